"""The shuffle as a picture: words that change places, and each word's output as a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import plotly.graph_objects as go

from pages._ui.escaped import in_plotly
from pages._ui.figures.attention import MOST_WORDS
from pages._ui.figures.axes import (
    TwoLayouts,
    axis_number,
    ends_of_bar,
    heading,
    nice_ceiling,
    with_patch,
)
from pages._ui.theme import DIVERGING, MUTED, base_layout, hue

TIMES = ("before", "after")
WIDE = 900  # pixels, below which a chart has the layout of a phone
_EDGE = 4  # pixels above the chips, whose edges would be cut
_TOOLS = 28  # pixels of Plotly's buttons, which always stand there where there is no mouse
_LETTER, _LINE = 0.62, 1.7  # of a chip's type: the width of a letter, the height of a line
_UPRIGHT = 1.2  # the width of a line, of its type
_ARROWS = 60  # pixels between the two rows of chips
_STRIP, _BETWEEN, _HEADING, _FOOT = 56, 5, 32, 10
_PAD = 8  # pixels of a chip beside its word
_LONGEST = 12  # letters of a word on a chip


@dataclass(frozen=True)
class Shuffled:
    """What was shuffled how: ``order[i]`` is the word that comes to slot i.

    ``titles`` name the encodings, each with two strips of ``dimensions`` rows.
    """

    titles: tuple[str, ...]
    words: tuple[str, ...]
    order: tuple[int, ...]
    dimensions: int

    def at(self, time: str) -> list[str]:
        """The words in the order in which they stand before or after."""
        return [self.words[index] for index in self.order] if time == "after" else [*self.words]


@dataclass(frozen=True)
class _Chips:
    """How words are written on chips: the size of their type, and whether they stand upright."""

    size: int
    upright: bool
    height: float

    @classmethod
    def fitting(cls, words: Sequence[str], width: float) -> _Chips:
        """Those that fit side by side into a ``width`` in pixels, in large type at best."""
        if len(words) > MOST_WORDS:
            return cls(0, False, 0.0)
        lengths, each = sorted(len(_short(word)) for word in words), width / len(words)
        for size in (18, 16, 14):
            # The two longest words may come to stand side by side.
            if mean(lengths[-2:]) * size * _LETTER + _PAD <= each:
                return cls(size, False, size * _LINE)
        size = int(max(9, min(14, (each - _PAD) / _UPRIGHT)))
        return cls(size, True, lengths[-1] * size * _LETTER + _PAD)


def trace_name(time: str, index: int) -> str:
    """The name of the strip of the encoding with that number."""
    return f"{time} {index}"


def columns_figure(look: Shuffled) -> TwoLayouts:
    """Two rows of chips with arrows from word to word, and empty strips below, two an encoding.

    A word's columns stand under its chips: in the sentence's order, then in the shuffled one.
    """
    figure = go.Figure(layout=base_layout())
    for index in range(len(look.titles)):
        for time in TIMES:
            figure.add_trace(_strip(look, time, index))
        bar = {"colorscale": DIVERGING, "colorbar": {"thickness": 10, "xpad": 4,
               "tickfont": {"size": 12}, "yanchor": "top", "ypad": 0}}  # fmt: skip
        figure.update_layout({_colours_of(index): bar})
    figure.update_layout(_layout(look, width=WIDE - 110, room=0.935, left=34, over=_EDGE))
    figure = with_patch(figure, colours(look, [1.0] * len(look.titles)))
    return figure, _layout(look, width=270, room=0.83, left=26, over=_TOOLS)


def colours(look: Shuffled, peaks: Sequence[float]) -> dict[str, Any]:
    """Where the colours of each encoding's two strips end: at round numbers."""
    ends: dict[str, Any] = {}
    for index, peak in zip(range(len(look.titles)), peaks, strict=True):
        ends |= ends_of_bar(_colours_of(index), -nice_ceiling(peak), nice_ceiling(peak))
    return ends


def _layout(look: Shuffled, width: float, room: float, left: int, over: int) -> dict[str, Any]:
    """All that depends on the width: ``room`` is the strips' share of it, the rest is the bar's.

    ``over`` pixels are left free above.
    """
    chips = _Chips.fitting(look.words, width)
    top = 2 * chips.height + _ARROWS
    each = _HEADING + 2 * _STRIP + _BETWEEN + _FOOT
    total = top + each * len(look.titles)
    across = [0.0, room]
    layout: dict[str, Any] = {
        "height": round(total) + over,
        "margin": {"l": left, "r": 4, "t": over, "b": 0, "autoexpand": False},
        "xaxis": _across(look, "before", across, "y") | {"visible": False},
        "yaxis": {"domain": [1 - top / total, 1], "anchor": "x", "range": [0, top],
                  "visible": False, "fixedrange": True},
        "annotations": [*_arrows(look, chips, top), *_written(look, chips, top)],
    }  # fmt: skip
    for index, title in enumerate(look.titles):
        high = total - top - index * each - _HEADING
        layout["annotations"].append(heading(title, across, high / total, 3))
        bar = {"x": room + 0.005, "y": high / total, "len": (2 * _STRIP + _BETWEEN) / total}
        layout[_colours_of(index)] = {"colorbar": bar}
        for time in TIMES:
            number = _number(index, time)
            layout[f"xaxis{number}"] = _across(look, time, across, f"y{number}")
            layout[f"yaxis{number}"] = {
                "domain": [max(0.0, (high - _STRIP) / total), high / total],
                "anchor": f"x{number}", "range": [look.dimensions - 0.5, -0.5], "ticks": "",
                "showticklabels": False, "tickformat": "d", "fixedrange": True,
                "title": {"text": time, "standoff": 4, "font": {"size": 13}},
            }  # fmt: skip
            high -= _STRIP + _BETWEEN
    return layout


def _across(look: Shuffled, time: str, domain: Sequence[float], anchor: str) -> dict[str, Any]:
    """An axis of slots, whose labels only the hover shows: they are the chips above."""
    n = len(look.words)
    return {
        "domain": list(domain), "anchor": anchor, "range": [-0.5, n - 0.5], "ticks": "",
        "showticklabels": False, "tickvals": list(range(n)),
        "ticktext": [in_plotly(_short(word)) for word in look.at(time)],
        **({} if anchor == "y" else {"matches": "x"}),
    }  # fmt: skip


def _written(look: Shuffled, chips: _Chips, top: float) -> list[dict[str, Any]]:
    """The words on their chips, above the arrows and below them."""
    if not chips.size:
        return []
    middles = {"before": top - chips.height / 2, "after": chips.height / 2}
    return [
        {
            "text": in_plotly(_short(word)), "x": slot, "y": middles[time], "xref": "x",
            "yref": "y", "showarrow": False, "textangle": -90 if chips.upright else 0,
            "font": {"size": chips.size}, "borderpad": 2, "borderwidth": 1,
            "bordercolor": _hue(look, index),
        }
        for time in TIMES
        for slot, (word, index) in enumerate(zip(look.at(time), _indices(look, time), strict=True))
    ]  # fmt: skip


def _arrows(look: Shuffled, chips: _Chips, top: float) -> list[dict[str, Any]]:
    """From each word's chip to its new one."""
    start, end = top - chips.height - 4, chips.height + 4
    return [
        {
            "text": "", "x": slot, "y": end, "ax": index, "ay": start, "xref": "x", "yref": "y",
            "axref": "x", "ayref": "y", "showarrow": True, "arrowhead": 2, "arrowsize": 0.8,
            "arrowwidth": 1 if slot == index else 2, "arrowcolor": _hue(look, index),
        }
        for slot, index in enumerate(look.order)
    ]  # fmt: skip


def _hue(look: Shuffled, index: int) -> str:
    """The colour of a word that changes places, or doesn't."""
    return MUTED if look.order[index] == index else hue("token")


def _indices(look: Shuffled, time: str) -> Sequence[int]:
    return look.order if time == "after" else range(len(look.order))


def _strip(look: Shuffled, time: str, index: int) -> go.Heatmap:
    number = _number(index, time)
    return go.Heatmap(
        name=trace_name(time, index),
        x0=0, dx=1, y0=0, dy=1,
        xaxis=f"x{number}",
        yaxis=f"y{number}",
        coloraxis=_colours_of(index),
        hovertemplate=(
            f"%{{x}}, {time} the shuffle<br>dimension %{{y}} = %{{z:.4g}}"
            f"<extra>{look.titles[index]}</extra>"
        ),
    )  # fmt: skip


def _number(index: int, time: str) -> str:
    return axis_number(2 + 2 * index + TIMES.index(time))


def _colours_of(index: int) -> str:
    return f"coloraxis{axis_number(index + 1)}"


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"
