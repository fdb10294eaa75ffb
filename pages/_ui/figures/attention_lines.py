"""Attention as lines: what a shuffle breaks in each slot, and score against distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pages._ui.escaped import in_plotly
from pages._ui.figures.attention import MOST_WORDS
from pages._ui.figures.axes import TwoLayouts, axis_number, index_ticks, line_mode
from pages._ui.figures.panes import Pane, Sheet
from pages._ui.theme import MUTED

# One look for each column: colours that colour-blind readers can tell apart, and dashes.
COLOURS = tuple(f"var(--st-{name}-color)" for name in ("gray", "orange", "blue", "green"))
DASH = ("solid", "dash", "solid", "dashdot")
_FLOOR = 1e-18  # an error of 0 has no place on a logarithmic axis


@dataclass(frozen=True)
class Curve:
    """A line of the column with that number: its heading, its values, its standard errors."""

    column: int
    title: str
    y: Sequence[float]
    error: Sequence[float] = ()


def shuffle_figure(
    plain: Sequence[Curve], masked: Sequence[Curve], words: Sequence[str]
) -> TwoLayouts:
    """‖f(PX) − P f(X)‖ in each slot, without a mask and with one, on one logarithmic axis."""
    n = len(words)
    labels: dict[str, Any] = {}
    if n <= MOST_WORDS:
        ticks = [in_plotly(word) for word in words]
        labels = {"tickvals": list(range(n)), "ticktext": ticks, "tickangle": -60}
    up = {"type": "log", "range": [-18.5, 2.5], "dtick": 4, "exponentformat": "power"}
    across = {"range": [-0.5, n - 0.5], **index_ticks(n, 6), **labels}
    names = ("no mask: error in each slot", "causal mask: error in each slot")
    title = "" if labels else "slot"
    panes = [
        Pane(names[0], title, "", across=across, up=up),
        Pane(names[1], title, "", across=across, up=up),
    ]
    sheet = Sheet((panes,), (330 if labels else 300,))
    figure = sheet.figure()
    for pane, curves in enumerate((plain, masked), start=1):
        for curve in curves:
            y = [max(value, _FLOOR) for value in curve.y]
            hover = "slot %{x}<br>‖error‖ = %{y:.3g}"
            figure.add_trace(_line(curve, pane, range(n), y, hover, marked=True))
    figure.update_layout(margin={"b": 40 if labels else 0}, **_legend(figure))
    return figure, _with_legend(sheet.narrow_layout())


def distance_figure(
    distances: Sequence[int],
    same: Sequence[Curve],
    bounds: Sequence[Curve],
    independent: Sequence[Curve],
) -> TwoLayouts:
    """Scores of q = k less that at distance 0, with RoPE's bound dotted; means of random q, k."""
    across = {"range": [0, distances[-1]], **index_ticks(distances[-1], 6)}
    title = "distance (tokens back)"
    panes = [
        Pane("q = k: score less the score at distance 0", title, "", across=across),
        Pane("independent random q, k: mean score", title, "", across=across),
    ]
    sheet = Sheet((panes,), (320,))
    figure = sheet.figure()
    for curve in same:
        hover = "distance %{x}<br>score − score(0) = %{y:.4g}"
        figure.add_trace(_line(curve, 1, distances, curve.y, hover))
    for curve in bounds:
        hover = "distance %{x}<br>bound = %{y:.4g}"
        trace = _line(curve, 1, distances, curve.y, hover).update(
            name=f"{curve.title}: bound", line_dash="dot", line_width=1.5, showlegend=False
        )
        figure.add_trace(trace)
    for curve in independent:
        hover = "distance %{x}<br>mean score = %{y:.4g}"
        figure.add_trace(_band(curve, distances))
        figure.add_trace(_line(curve, 2, distances, curve.y, hover))
    figure.update_yaxes(zeroline=True)
    figure.update_layout(**_legend(figure))
    return figure, _with_legend(sheet.narrow_layout())


def _line(
    curve: Curve, pane: int, x: Sequence[int], y: Sequence[float], hover: str, marked: bool = False
) -> go.Scatter:
    number = axis_number(pane)
    look = curve.column % len(COLOURS)
    return go.Scatter(
        name=curve.title,
        uid=f"{curve.title} {pane}",
        x=list(x),
        y=list(y),
        xaxis=f"x{number}",
        yaxis=f"y{number}",
        mode="lines+markers" if marked else line_mode(len(x)),
        line={"color": COLOURS[look], "dash": DASH[look], "width": 2.5},
        hovertemplate=f"{hover}<extra>{curve.title}</extra>",
        showlegend=pane == 1,
    )


def _band(curve: Curve, x: Sequence[int]) -> go.Scatter:
    upper = [y + 2 * error for y, error in zip(curve.y, curve.error, strict=True)]
    lower = [y - 2 * error for y, error in zip(curve.y, curve.error, strict=True)]
    return go.Scatter(
        name=f"{curve.title}: two standard errors",
        x=[*x, *reversed(x)],
        y=[*upper, *reversed(lower)],
        xaxis="x2",
        yaxis="y2",
        mode="lines",
        fill="toself",
        line={"width": 0, "color": COLOURS[curve.column % len(COLOURS)]},
        opacity=0.25,
        hoverinfo="skip",
        showlegend=False,
    )


def _legend(figure: go.Figure) -> dict[str, Any]:
    return {
        "showlegend": True,
        "height": figure.layout.height + 40,
        "legend": {
            "orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom",
            "bordercolor": MUTED,
        },
    }  # fmt: skip


def _with_legend(layout: dict[str, Any]) -> dict[str, Any]:
    return layout | {"height": layout["height"] + 110, "margin": {**layout["margin"], "b": 100}}
