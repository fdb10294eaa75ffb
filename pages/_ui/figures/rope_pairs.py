"""Every pair of dimensions before and after a RoPE scaling: how fast it turns, and how far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pages._ui.figures.axes import index_ticks, whole
from pages._ui.figures.two_pictures import (
    BEFORE,
    LEFT,
    RIGHT,
    TURN,
    Lengths,
    before_line,
    headings,
    line_style,
    log_axis,
    marked,
    two_pictures,
)
from pages._ui.theme import hue, text_hue

QUANTITIES = ("wavelength", "frequency")
# A symbol for each kind of pair, so that nothing hangs on colours.
SYMBOLS = {
    "untouched": "circle",
    "blended": "diamond",
    "interpolated": "triangle-up",
    "still": "x",
}
_SEEN = "rgba(128, 134, 145, 0.28)"


@dataclass(frozen=True)
class Pairs:
    """Each pair's numbers: frequencies, phases at ``position``, and those over the trained length.

    ``seen`` is the greatest angle that a pair had over that length, at most one turn.
    """

    frequency: tuple[Sequence[float], Sequence[float]]
    kind: Sequence[str]
    position: int
    phase: tuple[Sequence[float], Sequence[float]]
    seen: Sequence[float]


def pairs_figure(pairs: Pairs, lengths: Lengths, quantity: str) -> go.Figure:
    """Wavelength or frequency of every pair, and the angle of every pair at one position."""
    figure = go.Figure(layout=two_pictures())
    before, after = (_quantity(values, quantity) for values in pairs.frequency)
    indices = list(range(len(pairs.kind)))
    symbol = "λ" if quantity == "wavelength" else "ω"
    figure.add_trace(
        before_line("plain RoPE", indices, before, f"pair %{{x}}<br>{symbol} = %{{y:.6g}}")
    )
    for kind, marker in SYMBOLS.items():
        of_kind = [index for index in indices if pairs.kind[index] == kind]
        figure.add_scatter(
            name=kind,
            x=of_kind,
            y=[after[index] for index in of_kind],
            mode="markers",
            marker={"symbol": marker, "size": 8, "color": hue("position")},
            hovertemplate=f"pair %{{x}}, {kind}<br>{symbol} = %{{y:.6g}}<extra></extra>",
        )
    _add_phases(figure, pairs, indices, lengths)
    values = [value for value in (*before, *after) if value]
    marks = marked(lengths, quantity)
    counted = {"range": whole(len(indices)), **index_ticks(len(indices), 8)}
    figure.update_layout(
        xaxis={
            "domain": list(LEFT),
            "title": {"text": "pair", "standoff": 4},
            "zeroline": False,
            **counted,
        },
        yaxis=log_axis([*values, *marks.values()], _unit(quantity)),
        xaxis2={
            "domain": list(RIGHT),
            "anchor": "y2",
            "matches": "x",
            "title": {"text": "pair", "standoff": 4},
            "zeroline": False,
            **counted,
        },
        yaxis2={
            "anchor": "x2",
            "range": [-0.15, TURN + 0.15],
            "title": {"text": "angle, mod one turn", "standoff": 6},
            "tickvals": [0, math.pi / 2, math.pi, 1.5 * math.pi, TURN],
            "ticktext": ["0", "π/2", "π", "3π/2", "2π"],
        },
        shapes=[_across(value, name) for name, value in marks.items()],
        annotations=[
            *headings(f"{quantity} of each pair", f"angle at position {pairs.position:,}"),
            *(_at_line(name, lengths, marks) for name in marks),
        ],
    )
    return figure


def _add_phases(figure: go.Figure, pairs: Pairs, indices: Sequence[int], lengths: Lengths) -> None:
    over = "in training" if lengths.is_given else f"over {lengths.trained:,} positions"
    figure.add_scatter(
        name=f"seen {over}",
        x=indices,
        y=pairs.seen,
        mode="lines",
        line={"shape": "hvh", "width": 0, "color": BEFORE},
        fill="tozeroy",
        fillcolor=_SEEN,
        hovertemplate=f"pair %{{x}}: {over} up to %{{y:.4g}} rad<extra></extra>",
        xaxis="x2",
        yaxis="y2",
    )
    hover = "pair %{x}<br>angle = %{y:.4g} rad"
    plain, scaled = (
        go.Scatter(
            name=name,
            x=indices,
            y=phase,
            mode="markers",
            marker=marker,
            hovertemplate=f"{name}<br>{hover}<extra></extra>",
            xaxis="x2",
            yaxis="y2",
        )
        for name, phase, marker in (
            ("angle in plain RoPE", pairs.phase[0], {"symbol": "circle-open", "color": BEFORE}),
            ("angle, scaled", pairs.phase[1], {"symbol": "circle", "color": hue("position")}),
        )
    )
    figure.add_traces([plain, scaled])


def _quantity(frequency: Sequence[float], quantity: str) -> list[float | None]:
    # A pair that stands still has no place on a logarithmic axis.
    if quantity == "frequency":
        return [value or None for value in frequency]
    return [TURN / value if value else None for value in frequency]


def _unit(quantity: str) -> str:
    return "wavelength (positions)" if quantity == "wavelength" else "radians per position"


def _across(value: float, name: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x domain", "x0": 0, "x1": 1, "yref": "y", "y0": value, "y1": value,
        "line": line_style(name),
    }  # fmt: skip


def _at_line(name: str, lengths: Lengths, marks: Mapping[str, float]) -> dict[str, Any]:
    length = lengths.wanted if name == "wanted" else lengths.trained
    upper = marks[name] == max(marks.values())
    return {
        "text": f"{name} {length:,}", "showarrow": False,
        "xref": "x domain", "x": 0.01, "xanchor": "left",
        "yref": "y", "y": math.log10(marks[name]), "yanchor": "bottom" if upper else "top",
        "font": {"size": 13, "color": text_hue("token")},
    }  # fmt: skip
