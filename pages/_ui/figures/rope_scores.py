"""Scores against distance under a RoPE scaling, and how far rounded cosines are off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pages._ui.figures.two_pictures import (
    LEFT,
    RIGHT,
    Lengths,
    after_line,
    before_line,
    headings,
    line_style,
    log_axis,
    marked,
    two_pictures,
)
from pages._ui.theme import text_hue

_ROOM_RIGHT = 5e6  # a line further right has no room for its name on its right side


@dataclass(frozen=True)
class Curve:
    """Values against positions or distances."""

    x: Sequence[float]
    y: Sequence[float]


def distance_figure(
    before: Curve, after: Curve, errors: Mapping[str, Curve], chosen: str, lengths: Lengths
) -> go.Figure:
    """Score against distance before and after, and how far a rounded cosine is off.

    ``errors`` has a curve for each arithmetic by its title; the ``chosen`` one stands out.
    """
    figure = go.Figure(layout=two_pictures())
    hover = "distance %{x:,.0f}<br>mean cosine = %{y:.4g}"
    figure.add_trace(before_line("plain RoPE", before.x, before.y, hover))
    figure.add_trace(after_line("scaled", after.x, after.y, hover))
    for title, curve in errors.items():
        draw = after_line if title == chosen else before_line
        known = [value or None for value in curve.y]
        trace = draw(title, curve.x, known, f"{title}<br>position %{{x:,}}<br>|Δcos| = %{{y:.3g}}")
        figure.add_trace(trace.update(xaxis="x2", yaxis="y2"))
    last, marks = max(before.x), marked(lengths, "wavelength").items()
    figure.update_layout(
        xaxis=log_axis([1, last], "distance (tokens)", tight=True) | {"domain": list(LEFT)},
        yaxis={"title": {"text": "score / plain score at 0", "standoff": 6}},
        xaxis2=log_axis([1, last], "position", tight=True)
        | {"domain": list(RIGHT), "anchor": "y2", "matches": "x"},
        yaxis2=log_axis([1e-8, 2.0], "largest |Δcos|") | {"anchor": "x2"},
        shapes=[_upright(name, value, axis) for name, value in marks for axis in ("", "2")],
        annotations=[
            *headings("score against distance", f"cos computed {chosen}"),
            *(_beside(name, value, axis) for name, value in marks for axis in ("", "2")),
        ],
    )
    return figure


def _upright(name: str, value: float, axis: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": f"x{axis}", "x0": value, "x1": value,
        "yref": f"y{axis} domain", "y0": 0, "y1": 1, "line": line_style(name),
    }  # fmt: skip


def _beside(name: str, value: float, axis: str) -> dict[str, Any]:
    # Score curves leave the upper right free, error curves the lower right.
    up, edge = (0.02, "bottom") if axis else (0.98, "top")
    inside = name == "wanted" and value < _ROOM_RIGHT
    return {
        "text": name, "textangle": -90, "showarrow": False,
        "xref": f"x{axis}", "x": math.log10(value), "xanchor": "left" if inside else "right",
        "yref": f"y{axis} domain", "y": up, "yanchor": edge,
        "font": {"size": 13, "color": text_hue("token")},
    }  # fmt: skip
