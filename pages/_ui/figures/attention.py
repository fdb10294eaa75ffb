"""Attention as pictures: rows of query × key heatmaps, one column for each encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pages._ui.escaped import in_plotly
from pages._ui.figures.axes import (
    TwoLayouts,
    axis_number,
    ends_of_bar,
    heading,
    index_ticks,
    nice_ceiling,
    with_patch,
)
from pages._ui.theme import DIVERGING, SEQUENTIAL, base_layout

MOST_WORDS = 26  # more labels than this can't be read along one picture

_SIDE, _HEADING, _AXIS, _FOOT = 212, 30, 26, 12  # pixels
_NARROW_SIDE = 270
_NARROW_WIDTH = 0.83  # beside it the bar and its numbers
_GAP, _BAR = 0.016, 0.065  # shares of the width: between columns, and for the colour bars
_LETTER = 7.2  # pixels of a letter of a label


@dataclass(frozen=True)
class Strip:
    """One row of pictures that share their colours: what it shows, and the symbol of a value.

    An ``upward`` one has no value below 0; a ``relative`` one is measured from the first column,
    which shows nothing itself.
    """

    name: str
    title: str
    symbol: str
    upward: bool = False
    relative: bool = False


SCORES = Strip("scores", "scores", "s")
WEIGHTS = Strip("weights", "weights", "α", upward=True)
CHANGES = Strip("changes", "difference", "Δα", relative=True)


@dataclass(frozen=True)
class Look:
    """All that the figure depends on but its numbers.

    ``columns`` are the headings, ``strips`` the rows from top to bottom, ``words`` the tokens.
    ``signs`` stand between the columns, where their pictures add up.
    """

    columns: tuple[str, ...]
    strips: tuple[Strip, ...]
    words: tuple[str, ...]
    signs: tuple[str, ...] = ()

    def pictures(self) -> list[tuple[int, int]]:
        """Row and column of each picture, row by row."""
        return [
            (row, column)
            for row, strip in enumerate(self.strips)
            for column in range(len(self.columns))
            if column or not strip.relative
        ]

    @property
    def has_words(self) -> bool:
        """Whether tokens fit along the axes; else there are numbers."""
        return len(self.words) <= MOST_WORDS


def trace_name(strip: Strip, column: int) -> str:
    """The name of the picture in that row and column."""
    return f"{strip.name} {column}"


def place_of(name: str) -> tuple[str, int] | None:
    """The strip's name and the column of a trace; None for another trace."""
    strip, _, column = name.rpartition(" ")
    return (strip, int(column)) if strip and column.isdecimal() else None


def grid_figure(look: Look) -> TwoLayouts:
    """Empty heatmaps: their cells travel by themselves, their colours are set by `colours`."""
    foot = _foot(look)
    height = len(look.strips) * (_SIDE + foot) + _HEADING
    figure = go.Figure(layout=base_layout(height=height, margin=_margin(look)))
    places = {}
    width = _column_width(look)
    for row, column in look.pictures():
        top = 1 - (_HEADING + row * (_SIDE + foot)) / height
        left = column * (width + _gap(look))
        places[row, column] = ((left, left + width), (max(0.0, top - _SIDE / height), top))
        figure.add_trace(_heatmap(look, row, column))
        bar = _bar(top, _SIDE / height)
        figure.update_layout({_colour_axis(row): _colours_of(look.strips[row], bar)})
    figure.update_layout(_layout(look, places, narrow=False))
    return with_patch(figure, colours(look, {})), _narrow(look)


def colours(look: Look, peaks: Mapping[str, float]) -> dict[str, Any]:
    """Where each strip's colours end: at round numbers, which rarely change."""
    ends: dict[str, Any] = {}
    for row, strip in enumerate(look.strips):
        peak = nice_ceiling(peaks.get(strip.name, 1.0))
        ends |= ends_of_bar(_colour_axis(row), 0.0 if strip.upward else -peak, peak)
    return ends


def _narrow(look: Look) -> dict[str, Any]:
    foot = _foot(look)
    each = _NARROW_SIDE + _HEADING + foot
    order = sorted(look.pictures(), key=lambda place: place[::-1])  # one encoding after another
    total = each * len(order)
    places = {}
    layout: dict[str, Any] = {"height": total}
    for index, (row, column) in enumerate(order):
        top = 1 - (index * each + _HEADING) / total
        places[row, column] = ((0.0, _NARROW_WIDTH), (max(0.0, top - _NARROW_SIDE / total), top))
        bar = {"colorbar": _bar(top, _NARROW_SIDE / total) | {"x": _NARROW_WIDTH + 0.01}}
        layout.setdefault(_colour_axis(row), bar)
    return layout | _layout(look, places, narrow=True)


def _layout(
    look: Look,
    places: Mapping[tuple[int, int], tuple[tuple[float, float], tuple[float, float]]],
    narrow: bool,
) -> dict[str, Any]:
    layout: dict[str, Any] = {"annotations": []}
    n = len(look.words)
    labels = _labels(look)
    for (row, column), (across, up) in places.items():
        number = _number(look, row, column)
        first = narrow or column == (1 if look.strips[row].relative else 0)
        match = {} if number == "" else {"matches": "x"}
        layout[f"xaxis{number}"] = {
            "domain": list(across), "anchor": f"y{number}", "range": [-0.5, n - 0.5],
            "constrain": "domain", "tickangle": -60 if look.has_words else 0, "ticks": "",
            "tickfont": {"size": 12}, **labels, **match,
            "title": {"text": "" if look.has_words else "key", "standoff": 2},
        }  # fmt: skip
        title = "" if look.strips[row].relative else f"<b>{look.strips[row].title}</b>"
        title += "" if look.has_words else "<br>query"
        match = {} if number == "" else {"matches": "y"}
        layout[f"yaxis{number}"] = {
            "domain": list(up), "anchor": f"x{number}", "range": [n - 0.5, -0.5],
            "constrain": "domain", "showticklabels": first, "ticks": "",
            "tickfont": {"size": 12}, **labels, **match,
            "title": {"text": title if first and not narrow else "", "standoff": 6},
        }  # fmt: skip
        if narrow or row == 0:
            title = look.columns[column]
            title += f": {look.strips[row].title}" if narrow and len(look.strips) > 1 else ""
            layout["annotations"].append(heading(title, across, up[1], 4))
        if look.signs and column and not narrow:
            between = across[0] - _gap(look) / 2
            sign = _centred(look.signs[column - 1], between, sum(up) / 2, size=22)
            layout["annotations"].append(sign)
        if look.strips[row].relative and column == 1 and not narrow:
            text = f"<b>{look.strips[row].title}</b><br>from<br>{look.columns[0]}"
            centre = (across[1] - across[0]) / 2
            layout["annotations"].append(_centred(text, centre, sum(up) / 2))
    return layout


def _heatmap(look: Look, row: int, column: int) -> go.Heatmap:
    strip, number = look.strips[row], _number(look, row, column)
    return go.Heatmap(
        name=trace_name(strip, column),
        x0=0, dx=1, y0=0, dy=1,
        xaxis=f"x{number}",
        yaxis=f"y{number}",
        coloraxis=_colour_axis(row),
        hovertemplate=(
            f"query %{{y}}, key %{{x}}<br>{strip.symbol} = %{{z:.3g}}"
            f"<extra>{look.columns[column]}</extra>"
        ),
    )  # fmt: skip


def _number(look: Look, row: int, column: int) -> str:
    return axis_number(row * len(look.columns) + column + 1)


def _colour_axis(row: int) -> str:
    return f"coloraxis{axis_number(row + 1)}"


def _colours_of(strip: Strip, bar: Mapping[str, Any]) -> dict[str, Any]:
    return {"colorscale": SEQUENTIAL if strip.upward else DIVERGING, "colorbar": dict(bar)}


def _bar(top: float, height: float) -> dict[str, Any]:
    return {
        "thickness": 10, "x": 1 - _BAR, "xpad": 4, "tickfont": {"size": 12},
        "y": top, "yanchor": "top", "ypad": 0, "len": height,
    }  # fmt: skip


def _labels(look: Look) -> dict[str, Any]:
    if not look.has_words:
        return index_ticks(len(look.words), 6)
    labels = [in_plotly(_short(word)) for word in look.words]
    return {"tickvals": list(range(len(look.words))), "ticktext": labels}


def _short(word: str) -> str:
    return word if len(word) <= 12 else f"{word[:11]}…"


def _longest(look: Look) -> float:
    return max((len(_short(word)) for word in look.words), default=0) * _LETTER


def _left(look: Look) -> int:
    return int(_longest(look)) + 44 if look.has_words else 76


def _foot(look: Look) -> int:
    # Labels lean by 60 degrees.
    return int(_longest(look) * 0.87) + 16 + _FOOT if look.has_words else 30 + _AXIS


def _margin(look: Look) -> dict[str, Any]:
    # Bars have their room: nothing moves when their numbers are longer.
    return {"l": _left(look), "r": 4, "t": 0, "b": 0, "autoexpand": False}


def _gap(look: Look) -> float:
    return 0.03 if look.signs else _GAP


def _column_width(look: Look) -> float:
    columns = len(look.columns)
    return (1 - _BAR - _gap(look) * (columns - 1)) / columns


def _centred(text: str, x: float, y: float, size: int = 15) -> dict[str, Any]:
    return {
        "text": text, "x": x, "y": y, "xref": "paper", "yref": "paper", "showarrow": False,
        "xanchor": "center", "yanchor": "middle", "yshift": 0, "font": {"size": size},
    }  # fmt: skip


def clipped(titles: Sequence[str], most: int) -> tuple[str, ...]:
    """Headings that fit over a narrow column."""
    return tuple(title if len(title) <= most else f"{title[: most - 1]}…" for title in titles)
