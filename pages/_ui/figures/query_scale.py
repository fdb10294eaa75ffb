"""What queries are multiplied by, against their position."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages._ui.figures.axes import heading
from pages._ui.figures.two_pictures import log_axis
from pages._ui.theme import base_layout, hue

_HEIGHT = 260


def query_scale_figure(positions: Sequence[int], factors: Sequence[float]) -> go.Figure:
    """The factor at each position, constant from one to the next."""
    figure = go.Figure(
        layout=base_layout(height=_HEIGHT, margin={"l": 66, "r": 10, "t": 34, "b": 44})
    )
    figure.add_scatter(
        name="queries",
        x=positions,
        y=factors,
        mode="lines",
        line={"color": hue("position"), "width": 2.5, "shape": "hv"},
        hovertemplate="position %{x:,}<br>queries × %{y:.6g}<extra></extra>",
    )
    figure.update_layout(
        xaxis=log_axis([positions[0], positions[-1]], "position", tight=True),
        yaxis={"title": {"text": "factor of the query", "standoff": 6}, "zeroline": False},
        annotations=[heading("queries × factor, by position", (0.0, 1.0), 1.0, 6)],
    )
    return figure
