"""What the figures about long contexts share: two pictures side by side, before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from pages._ui.figures.axes import heading, line_mode
from pages._ui.theme import base_layout, hue

LEFT, RIGHT = (0.0, 0.455), (0.555, 1.0)
BEFORE = "var(--st-gray-color)"
TURN = 2 * math.pi

_HEIGHT, _LEAST_HEIGHT, _NARROW_HEIGHT = 400, 270, 760
_MARGIN = {"l": 66, "r": 10, "t": 34, "b": 44}


@dataclass(frozen=True)
class Lengths:
    """The context before any extension and the wanted one, in tokens.

    ``is_given`` is whether the config says the first; else the reader assumes it.
    """

    trained: int
    wanted: int
    is_given: bool = True


def narrow_layout(figure: go.Figure) -> dict[str, Any]:
    """The same figure for a phone: the two pictures above one another."""
    upper, lower = [0.58, 1.0], [0.0, 0.4]
    notes = []
    for note in figure.layout.annotations:
        moved = note.to_plotly_json()
        if moved.get("yref") == "paper":
            second = moved["x"] > LEFT[1]
            moved |= {"x": 0.5, "y": lower[1] if second else upper[1]}
        notes.append(moved)
    return {
        "height": _NARROW_HEIGHT,
        "margin": _MARGIN | {"l": 58},
        "xaxis": {"domain": [0, 1]},
        "xaxis2": {"domain": [0, 1]},
        "yaxis": {"domain": upper},
        "yaxis2": {"domain": lower},
        "annotations": notes,
    }


def two_pictures() -> dict[str, Any]:
    """The layout of two pictures side by side."""
    return base_layout(height=_HEIGHT, least=_LEAST_HEIGHT, margin=_MARGIN)


def before_line(name: str, x: Sequence[float], y: Sequence[float | None], hover: str) -> go.Scatter:
    """The curve without the scaling."""
    line = {"color": BEFORE, "width": 2, "dash": "dot"}
    return _line(name, x, y, hover, line)


def after_line(name: str, x: Sequence[float], y: Sequence[float | None], hover: str) -> go.Scatter:
    """The curve with the scaling."""
    return _line(name, x, y, hover, {"color": hue("position"), "width": 2.5})


def _line(
    name: str, x: Sequence[float], y: Sequence[float | None], hover: str, line: dict[str, Any]
) -> go.Scatter:
    return go.Scatter(
        name=name,
        x=x,
        y=y,
        mode=line_mode(len(x)),
        line=line,
        hovertemplate=f"{name}<br>{hover}<extra></extra>",
    )


def marked(lengths: Lengths, quantity: str) -> dict[str, float]:
    """The two lengths as wavelengths, or as the frequencies that turn once over them."""
    first = "trained" if lengths.is_given else "assumed"
    named = {first: lengths.trained, "wanted": lengths.wanted}
    if lengths.trained == lengths.wanted:
        named = {f"{first} and wanted": lengths.trained}
    if quantity == "wavelength":
        return {name: float(value) for name, value in named.items()}
    return {name: TURN / value for name, value in named.items()}


def log_axis(values: Sequence[float], title: str, tight: bool = False) -> dict[str, Any]:
    """A logarithmic axis from the least to the greatest value, with some room unless ``tight``."""
    room = 0.0 if tight else 0.25
    low, high = math.log10(min(values)) - room, math.log10(max(values)) + room
    return {
        "type": "log",
        "range": [low, high],
        "title": {"text": title, "standoff": 6},
        "exponentformat": "power",
        "dtick": 1 if high - low < 8 else 2,
        "zeroline": False,
    }


def line_style(name: str) -> dict[str, Any]:
    """Dashed for the trained length, solid for the wanted one."""
    dash = "dash" if name in ("trained", "assumed") else "solid"
    return {"width": 1.5, "dash": dash, "color": hue("token")}


def headings(left: str, right: str) -> list[dict[str, Any]]:
    """What the two pictures show, above them."""
    return [heading(text, across, 1.0, 6) for text, across in ((left, LEFT), (right, RIGHT))]
