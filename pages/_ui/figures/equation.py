"""h = e + s·p as three heatmaps and the norms of their columns, one figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pages._ui.escaped import in_plotly
from pages._ui.figures.axes import (
    Indices,
    axis_number,
    ends_of_bar,
    index_ticks,
    line_mode,
    nice_ceiling,
    on_cells,
    shown,
    whole,
    with_patch,
)
from pages._ui.theme import DASHES, DIVERGING, base_layout, hue, text_hue

TERMS = ("token", "position", "combined")
NORMS = {"token": "‖e‖", "position": "‖s·p‖", "combined": "‖h‖"}

# Where the three pictures stand, as fractions of the width: the signs go between them.
_PLACES = ((0.0, 0.295), (0.3525, 0.6475), (0.705, 1.0))
# The same with room for a bar of its own beside the middle picture.
_PLACES_OF_TWO_SCALES = ((0.0, 0.28), (0.335, 0.615), (0.72, 1.0))
_TOP, _BOTTOM = (0.44, 0.94), (0.0, 0.25)
# On a phone, without and with room for labels of their own beside the second and third picture;
# pixels of what stands there from top to bottom.
_NARROW = ((0.0, 0.285), (0.3575, 0.6425), (0.715, 1.0))
_NARROW_WITH_LABELS = ((0.0, 0.25), (0.375, 0.625), (0.75, 1.0))
_HEAD, _PICTURE, _FEET, _EACH_BAR, _CURVES = 24, 190, 42, 34, 110
# Its words have their room in the margin: nothing moves when they change.
_BAR: dict[str, Any] = {
    "thickness": 12, "x": 1.0, "xpad": 8, "ypad": 0,
    "len": _TOP[1] - _TOP[0], "y": _TOP[1], "yanchor": "top", "tickfont": {"size": 13},
}  # fmt: skip
_MARGIN = {"l": 58, "r": 84, "t": 6, "b": 44, "autoexpand": False}


@dataclass(frozen=True)
class Panel:
    """One picture: its heading, the symbol of its values, and what its cells stand for.

    ``rows`` are the indices shown up the picture (dimensions, or a bias's queries), of ``height``
    in all.
    """

    title: str
    symbol: str
    rows: Indices
    height: int
    up: str = "dimension"
    across: str = "position"
    own_scale: bool = False


@dataclass(frozen=True)
class Look:
    """All that the figure depends on and that moving the scale leaves alone."""

    panels: tuple[Panel, Panel, Panel]
    columns: Indices  # the positions shown, along every picture and under the norms
    width: int  # of so many in all
    signs: tuple[str, str]
    words: tuple[str, ...] = ()  # the tokens of a sentence, at their positions

    @property
    def places(self) -> tuple[tuple[float, float], ...]:
        """Where each picture begins and ends across the figure."""
        return _PLACES_OF_TWO_SCALES if self.panels[1].own_scale else _PLACES

    @property
    def narrow_places(self) -> tuple[tuple[float, float], ...]:
        """The same on a phone."""
        return _NARROW if all(map(self.shares_rows, (1, 2))) else _NARROW_WITH_LABELS

    def shares_rows(self, index: int) -> bool:
        """Whether a picture's rows are those of the first one."""
        panel, first = self.panels[index], self.panels[0]
        return panel.up == first.up and panel.height == first.height


def equation_figure(look: Look) -> go.Figure:
    """The figure without its numbers, which travel by themselves (see `ranges`)."""
    figure = go.Figure(layout=base_layout(height=520, least=340, margin=_MARGIN))
    for index, (term, panel) in enumerate(zip(TERMS, look.panels, strict=True), start=1):
        figure.add_trace(_heatmap(term, panel, look.columns, index))
        figure.update_layout(_axes(panel, look, index))
    for term in TERMS:
        figure.add_trace(_norm_line(term, look.columns))
    figure.update_layout(
        coloraxis={"colorscale": DIVERGING, "colorbar": _BAR},
        coloraxis2={
            "colorscale": DIVERGING,
            "colorbar": _BAR | {"x": look.places[1][1], "xpad": 6},
            "showscale": look.panels[1].own_scale,
        },
        xaxis4={
            "domain": [0, 1],
            "anchor": "y4",
            "range": whole(look.width),
            "title": {"text": "" if look.words else look.panels[0].across, "standoff": 4},
            "matches": "x",
            **_words(look),
        },
        yaxis4={
            "domain": list(_BOTTOM),
            "anchor": "x4",
            "title": {"text": "norm", "standoff": 6},
            "zeroline": True,
            "nticks": 5,
        },
        annotations=[*_headings(look), *_line_names(), *_badges(look)],
    )
    return with_patch(figure, ranges(1.0, 1.0, 1.0, 1.0))


def ranges(
    peak: float,
    own_peak: float,
    usual: float,
    highest: float,
    beyond: tuple[bool, bool] = (False, False),
    own_beyond: tuple[bool, bool] = (False, False),
) -> dict[str, Any]:
    """Where the colours and the axis of the norms end: at round numbers that stand still.

    ``peak`` is the greatest value of the pictures on the shared colour scale, ``own_peak`` that of
    a middle picture with a scale of its own. ``usual`` is a norm to which the axis always reaches;
    for ``highest``, the greatest one shown, it grows by whole multiples and says so. ``beyond``
    says whether values lie below and above the colours' ends.
    """
    top = nice_ceiling(usual)
    times = max(1, math.ceil(highest / top - 1e-9))
    end, own_end = nice_ceiling(peak), nice_ceiling(own_peak)
    return {
        **ends_of_bar("coloraxis", -end, end, beyond),
        **ends_of_bar("coloraxis2", -own_end, own_end, own_beyond),
        "yaxis4.range": [0.0, top * times * 1.04],
        "yaxis4.title.text": "norm" if times == 1 else f"norm (axis × {times})",
    }


def narrow_layout(look: Look) -> dict[str, Any]:
    """The same figure for a phone, at three quarters of its window's height.

    The pictures are still side by side, with bars of colour and norms below, and are named by
    their symbols.
    """
    bars = 2 if look.panels[1].own_scale else 1
    inside = _HEAD + _PICTURE + _FEET + bars * _EACH_BAR + _HEAD + _CURVES
    margin = {"l": 46, "r": 10, "t": 4, "b": 40}
    top = 1 - _HEAD / inside
    bottom = top - _PICTURE / inside
    layout: dict[str, Any] = {
        "height": inside + margin["t"] + margin["b"],
        "margin": {**margin, "autoexpand": False},
        "yaxis4": {"domain": [0, _CURVES / inside]},
        "annotations": [
            *_names(look, (bottom, top)),
            *_line_names(top=_CURVES / inside),
            *_badges(look, narrow=bottom),
        ],
    }
    small = {"size": 11}
    for index, across in enumerate(look.narrow_places, start=1):
        number = axis_number(index)
        layout[f"xaxis{number}"] = {
            "domain": list(across), "tickfont": small, "title": {"font": {"size": 12}},
            **index_ticks(look.columns.stop - look.columns.start, 3),
        }  # fmt: skip
        layout[f"yaxis{number}"] = {
            "domain": [bottom, top], "tickfont": small, "title": {"font": {"size": 12}},
        }  # fmt: skip
    for bar in range(bars):
        below = bottom - (_FEET + (bars - 1 - bar) * _EACH_BAR) / inside
        layout[f"coloraxis{axis_number(bar + 1)}"] = {
            "colorbar": {
                "orientation": "h", "thickness": 8, "x": 0.5, "xanchor": "center", "xpad": 0,
                "y": below, "yanchor": "top", "len": 0.76, "tickfont": {"size": 12},
            }
        }  # fmt: skip
    if bars == 2:
        for bar, symbols in enumerate(("e, h", look.panels[1].symbol), start=1):
            at = layout[f"coloraxis{axis_number(bar)}"]["colorbar"]["y"]
            name = _note(symbols, 0.1, at, None, size=12)
            layout["annotations"].append(name | {"xanchor": "right", "yanchor": "top"})
    return layout


def _names(look: Look, up: tuple[float, float]) -> Sequence[dict[str, Any]]:
    """The pictures' symbols over them, and the signs between them where there is room for one."""
    notes = []
    for index, (term, panel) in enumerate(zip(TERMS, look.panels, strict=True)):
        left, right = look.narrow_places[index]
        name = _note(f"<b>{panel.symbol}</b>", (left + right) / 2, up[1], text_hue(term), size=16)
        notes.append(name | {"yanchor": "bottom", "yshift": 2})
        sign = ("", *look.signs)[index]
        if sign and len(sign) < 3 and look.shares_rows(index):
            between = (look.narrow_places[index - 1][1] + left) / 2
            notes.append(_note(sign, between, sum(up) / 2, None, size=18))
    return notes


def _heatmap(term: str, panel: Panel, columns: Indices, index: int) -> go.Heatmap:
    suffix = axis_number(index)
    return go.Heatmap(
        name=term,
        **on_cells(columns, panel.rows),
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
        coloraxis="coloraxis2" if panel.own_scale else "coloraxis",
        hovertemplate=(
            f"{panel.across} %{{x}}, {panel.up} %{{y}}<br>"
            f"{panel.symbol} = %{{z:.3g}}<extra></extra>"
        ),
    )


def _axes(panel: Panel, look: Look, index: int) -> dict[str, Any]:
    suffix = axis_number(index)
    first, shared = look.panels[0], look.shares_rows(index - 1)
    across = {
        "domain": list(look.places[index - 1]),
        "anchor": f"y{suffix}",
        "range": whole(look.width),
        "title": {"text": panel.across, "standoff": 4},
        **index_ticks(look.columns.stop - look.columns.start, 6),
        "constrain": "domain",
    }
    up = {
        "domain": list(_TOP),
        "anchor": f"x{suffix}",
        # Dimension 0 on top, as a matrix is written.
        "range": whole(panel.height, reverse=True),
        "title": {"text": panel.up if index == 1 or panel.up != first.up else "", "standoff": 6},
        "showticklabels": index == 1 or not shared,
        **index_ticks(panel.rows.stop - panel.rows.start, 6),
    }
    if index > 1:
        across["matches"] = "x"
        if shared:
            up["matches"] = "y"
    return {f"xaxis{suffix}": across, f"yaxis{suffix}": up}


def _norm_line(term: str, columns: Indices) -> go.Scatter:
    positions = shown(columns)
    return go.Scatter(
        name=NORMS[term],
        x=positions,
        y=[0.0] * len(positions),
        xaxis="x4",
        yaxis="y4",
        mode=line_mode(len(positions)),
        line={"color": hue(term), "dash": DASHES[term], "width": 2.5},
        marker={"color": hue(term), "size": 7},
        hovertemplate=f"position %{{x}}<br>{NORMS[term]} = %{{y:.4g}}<extra></extra>",
    )


def _words(look: Look) -> dict[str, Any]:
    count = look.columns.stop - look.columns.start
    if not look.words or look.columns.step > 1 or count > 48:
        return index_ticks(count, 12)
    at = list(range(look.columns.start, look.columns.stop))
    # Plotly reads a few HTML tags in labels, and some models' tokens look like those: <s>.
    labels = [in_plotly(look.words[index]) for index in at]
    return {"tickvals": at, "ticktext": labels, "tickangle": -40}


def _headings(look: Look) -> Sequence[dict[str, Any]]:
    notes = []
    for index, (term, panel) in enumerate(zip(TERMS, look.panels, strict=True)):
        left, right = look.places[index]
        heading = _note(f"<b>{panel.title}</b>", (left + right) / 2, _TOP[1], text_hue(term), 15)
        notes.append(heading | {"yanchor": "bottom", "yshift": 4})
        if sign := ("", *look.signs)[index]:
            # Past a bar and its words.
            free = 0.75 if index == 2 and look.panels[1].own_scale else 0.5
            before = look.places[index - 1][1]
            between = before + (left - before) * free
            size = 24 if len(sign) < 3 else 15
            notes.append(_note(sign, between, sum(_TOP) / 2, None, size))
    return notes


def _badges(look: Look, narrow: float | None = None) -> list[dict[str, Any]]:
    """How many values each cell is one of, in the corner of each picture that doesn't show all.

    ``narrow`` is where pictures end on a phone, where there is room for few letters.
    """
    badges = []
    for index, panel in enumerate(look.panels):
        across, up = look.columns.step, panel.rows.step
        if across == up == 1:
            continue
        right = (look.places if narrow is None else look.narrow_places)[index][1]
        bottom, size = (_TOP[0], 12) if narrow is None else (narrow, 10)
        text = f"1 of {across} × {up}" + (" values" if narrow is None else "")
        note = _note(text, right, bottom, "#ffffff", size=size)
        corner = {"xanchor": "right", "yanchor": "bottom", "borderpad": 3}
        badges.append(note | corner | {"bgcolor": "rgba(20, 20, 20, 0.75)"})
    return badges


def _line_names(top: float = _BOTTOM[1]) -> Sequence[dict[str, Any]]:
    keys = {"solid": "━━", "dot": "┅┅", "dash": "╍╍"}
    names = [
        f'<span style="color:{text_hue(term)}">{keys[DASHES[term]]} {NORMS[term]}</span>'
        for term in TERMS
    ]
    line = "     ".join(names)
    return [_note(f"<b>norm per position</b>     {line}", 0.5, top, None, size=14)
            | {"yanchor": "bottom", "yshift": 4}]  # fmt: skip


def _note(text: str, x: float, y: float, colour: str | None, size: int) -> dict[str, Any]:
    font: dict[str, Any] = {"size": size}
    if colour:
        font["color"] = colour
    return {
        "text": text, "x": x, "y": y, "xref": "paper", "yref": "paper",
        # Else Plotly anchors it by where it stands: left at the left.
        "xanchor": "center", "yanchor": "middle", "showarrow": False, "font": font,
    }  # fmt: skip
