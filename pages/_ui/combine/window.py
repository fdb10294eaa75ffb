"""A chart's zoom as whole indices, as a URL holds it, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping

Zoom = Mapping[str, tuple[float, float]]


def window_of(zoom: Zoom, width: int, height: int) -> tuple[int, ...]:
    """First and last column, first and last row of what is seen; () where all of it is."""
    if not zoom.keys() & {"xaxis", "yaxis"}:
        return ()
    return (*_inside(zoom.get("xaxis"), width), *_inside(zoom.get("yaxis"), height))


def zoom_to(window: tuple[int, ...]) -> dict[str, tuple[float, float]]:
    """The zoom of a chart whose row 0 is on top; {} for a window that isn't four numbers."""
    if len(window) != 4 or window[0] > window[1] or window[2] > window[3]:
        return {}
    left, right, top, bottom = window
    return {"xaxis": (left - 0.5, right + 0.5), "yaxis": (bottom + 0.5, top - 0.5)}


def _inside(ends: tuple[float, float] | None, size: int) -> tuple[int, int]:
    if ends is None:
        return 0, size - 1
    first = min(max(math.ceil(min(ends)), 0), size - 1)
    return first, min(max(math.floor(max(ends)), first), size - 1)
