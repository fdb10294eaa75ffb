"""Encodings as small multiples: one small picture each, all on one setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from pages._ui.figures.axes import TwoLayouts, axis_number, whole
from pages._ui.figures.panes import Pane, Sheet
from pages._ui.theme import DASHES, DIVERGING, hue

ACROSS = 5  # pictures in a row, at most
_SIDE, _NARROW = 150, 190


@dataclass(frozen=True, eq=False)
class Small:
    """One picture: its heading, its cells (rows × columns), and what the axes count."""

    title: str
    cells: Float[np.ndarray, "rows columns"]
    across: str
    up: str


def pictures_figure(pictures: Sequence[Small], symbol: str) -> TwoLayouts:
    """A heatmap for each encoding, zero-centred and each on a scale of its own."""
    panes = [
        Pane(
            picture.title,
            picture.across,
            picture.up,
            whole(picture.cells.shape[1]),
            whole(picture.cells.shape[0], reverse=True),
            across={"nticks": 4},
            up={"nticks": 4},
        )
        for picture in pictures
    ]
    sheet = _sheet(panes)
    figure = sheet.figure()
    for index, picture in enumerate(pictures, start=1):
        peak = float(np.abs(picture.cells).max()) or 1.0
        figure.add_trace(
            go.Heatmap(
                name=picture.title,
                z=picture.cells,
                xaxis=f"x{axis_number(index)}",
                yaxis=f"y{axis_number(index)}",
                colorscale=DIVERGING,
                zmin=-peak,
                zmax=peak,
                showscale=False,
                hovertemplate=(
                    f"{picture.across} %{{x}}, {picture.up} %{{y}}<br>{symbol} = %{{z:.3g}}"
                    f"<extra>{picture.title}</extra>"
                ),
            )
        )
    return figure, sheet.narrow_layout()


def norms_figure(titles: Sequence[str], norms: Sequence[dict[str, list[float]]]) -> TwoLayouts:
    """‖e‖, ‖s·p‖ and ‖h‖ per position of each encoding, all on one scale."""
    highest = max(max(curve) for lines in norms for curve in lines.values())
    length = len(next(iter(norms[0].values())))
    panes = [
        Pane(title, "position", "norm", whole(length), (0.0, highest * 1.05), across={"nticks": 4})
        for title in titles
    ]
    sheet = _sheet(panes)
    figure = sheet.figure()
    for index, (title, lines) in enumerate(zip(titles, norms, strict=True), start=1):
        for term, curve in lines.items():
            figure.add_trace(
                go.Scatter(
                    name=f"{title} {term}",
                    y=curve,
                    xaxis=f"x{axis_number(index)}",
                    yaxis=f"y{axis_number(index)}",
                    mode="lines",
                    line={"color": hue(term), "dash": DASHES[term], "width": 2},
                    hovertemplate=f"position %{{x}}<br>%{{y:.4g}}<extra>{term}</extra>",
                )
            )
    return figure, sheet.narrow_layout()


def _sheet(panes: Sequence[Pane]) -> Sheet:
    # Rows as equal as can be, since the pictures of a row share its whole width.
    count = -(-len(panes) // ACROSS)
    each = -(-len(panes) // count)
    rows = [tuple(panes[start : start + each]) for start in range(0, len(panes), each)]
    return Sheet(tuple(rows), (_SIDE,) * len(rows), narrow=_NARROW)
