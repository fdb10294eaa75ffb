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
_STACKED = ((0.80, 0.975), (0.555, 0.73), (0.31, 0.485), (0.0, 0.20))
_STACKED_WITH_BAR = (0.0, 0.8)
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
    def stacked_places(self) -> tuple[tuple[float, float], ...]:
        """The same where they stand above one another, the norms too."""
        whole_width = (0.0, 1.0)
        middle = _STACKED_WITH_BAR if self.panels[1].own_scale else whole_width
        return whole_width, middle, whole_width, whole_width


def equation_figure(look: Look) -> go.Figure:
    """The figure without its numbers, which travel by themselves (see `ranges`)."""
    figure = go.Figure(layout=base_layout(height=520, margin=_MARGIN))
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
    """The same figure for a phone: the three pictures above one another."""
    layout: dict[str, Any] = {
        "height": 1100,
        "margin": {"l": 52, "r": 8, "t": 4, "b": 40, "autoexpand": False},
    }
    for index, domain in enumerate(_STACKED, start=1):
        name = axis_number(index)
        last = index == len(_STACKED) or look.panels[index - 1].across != look.panels[-1].across
        title = {} if last or index == 3 else {"title": {"text": ""}}
        layout[f"xaxis{name}"] = {"domain": list(look.stacked_places[index - 1]), **title}
        layout[f"yaxis{name}"] = {"domain": list(domain), "showticklabels": True}
    layout["annotations"] = [
        *_headings(look, stacked=True),
        *_line_names(top=_STACKED[-1][1]),
        *_badges(look, stacked=True),
    ]
    layout["coloraxis"] = {
        "colorbar": {
            "orientation": "h", "thickness": 10, "x": 0.5, "xanchor": "center", "xpad": 0,
            "y": 0.245, "yanchor": "middle", "len": 0.76,
        }
    }  # fmt: skip
    low, high = _STACKED[1]
    layout["coloraxis2"] = {"colorbar": {"x": _STACKED_WITH_BAR[1], "y": high, "len": high - low}}
    return layout


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
    first = look.panels[0]
    shared = panel.up == first.up and panel.height == first.height
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


def _headings(look: Look, stacked: bool = False) -> Sequence[dict[str, Any]]:
    notes = []
    for index, (term, panel) in enumerate(zip(TERMS, look.panels, strict=True)):
        left, right = look.stacked_places[index] if stacked else look.places[index]
        top = _STACKED[index][1] if stacked else _TOP[1]
        sign = ("", *look.signs)[index]
        heading = f"{sign}  {panel.title}" if stacked and sign else panel.title
        notes.append(
            _note(f"<b>{heading}</b>", (left + right) / 2, top, text_hue(term), size=15)
            | {"yanchor": "bottom", "yshift": 4}
        )
        if sign and not stacked:
            # Past a bar and its words.
            free = 0.75 if index == 2 and look.panels[1].own_scale else 0.5
            before = look.places[index - 1][1]
            between = before + (left - before) * free
            notes.append(
                _note(sign, between, sum(_TOP) / 2, None, size=24 if len(sign) < 3 else 15)
            )
    return notes


def _badges(look: Look, stacked: bool = False) -> list[dict[str, Any]]:
    """How many values each cell is one of, in the corner of each picture that doesn't show all."""
    badges = []
    for index, panel in enumerate(look.panels):
        across, up = look.columns.step, panel.rows.step
        if across == up == 1:
            continue
        right = (look.stacked_places if stacked else look.places)[index][1]
        bottom = _STACKED[index][0] if stacked else _TOP[0]
        note = _note(f"1 of {across} × {up} values", right, bottom, "#ffffff", size=12)
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
