"""Encodings as small multiples: one small picture each, all on one setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from pages._ui.figures.attention import Packed
from pages._ui.figures.panes import Pane, Sheet, whole
from pages._ui.theme import DASHES, DIVERGING, hue

ACROSS = 5  # pictures in a row, at most
_SIDE, _NARROW = 150, 190


@dataclass(frozen=True, eq=False)
class Small:
    """One picture: its heading, its cells (rows × columns), and what the axes count."""

    title: str
    cells: Float[Tensor, "rows columns"]
    across: str
    up: str


def pictures_figure(pictures: Sequence[Small], symbol: str) -> Packed:
    """A heatmap for each encoding, zero-centred and each on a scale of its own."""
    panes = [
        Pane(
            one.title,
            one.across,
            one.up,
            whole(one.cells.shape[1]),
            whole(one.cells.shape[0], reverse=True),
            across={"nticks": 4},
            up={"nticks": 4},
        )
        for one in pictures
    ]
    sheet = _sheet(panes)
    figure = sheet.figure()
    for index, one in enumerate(pictures, start=1):
        peak = float(one.cells.abs().max()) or 1.0
        figure.add_trace(
            go.Heatmap(
                name=one.title,
                z=one.cells.numpy(),
                xaxis=_axis("x", index),
                yaxis=_axis("y", index),
                colorscale=DIVERGING,
                zmin=-peak,
                zmax=peak,
                showscale=False,
                hovertemplate=(
                    f"{one.across} %{{x}}, {one.up} %{{y}}<br>{symbol} = %{{z:.3g}}"
                    f"<extra>{one.title}</extra>"
                ),
            )
        )
    return figure, sheet.narrow_layout()


def norms_figure(titles: Sequence[str], norms: Sequence[dict[str, list[float]]]) -> Packed:
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
                    xaxis=_axis("x", index),
                    yaxis=_axis("y", index),
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


def _axis(name: str, index: int) -> str:
    return f"{name}{index}" if index > 1 else name
