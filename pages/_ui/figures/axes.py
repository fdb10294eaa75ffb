"""What all figures share: numbers of axes, headings, cells on their indices, where colours end.

Figures stand on NumPy and Plotly alone: arrays in, a figure out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from pages._ui.numbers import written

FEW = 24  # points that are marked one by one
TwoLayouts = tuple[go.Figure, dict[str, Any]]  # a figure, and what replaces its layout on a phone


class Indices(Protocol):
    """The indices ``start … stop - 1`` of an axis, ``step`` of them to a cell; a `range` is one."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...

    @property
    def step(self) -> int: ...


def axis_number(picture: int) -> str:
    """What Plotly writes after "x" and "y" for the pictures 1, 2, 3 …: nothing, then "2", "3"."""
    return str(picture) if picture > 1 else ""


def whole(size: int, reverse: bool = False) -> tuple[float, float]:
    """The range of an axis of indices; reversed, index 0 is on top, as a matrix is written."""
    ends = (-0.5, size - 0.5)
    return ends[::-1] if reverse else ends


@dataclass(frozen=True)
class Placed:
    """Cells that are drawn from ``start`` on and show other ``indices`` than those they lie at."""

    start: int
    stop: int
    step: int
    indices: tuple[int, ...]


def shown(indices: Indices) -> list[int]:
    """The index that each cell shows: of a `range` the first of its step, else what it says."""
    chosen: Sequence[int] = getattr(
        indices, "indices", range(indices.start, indices.stop, indices.step)
    )
    return list(chosen)


def index_ticks(count: float, most: int) -> dict[str, Any]:
    """Ticks of an axis of ``count`` indices: about ``most`` of them, none between two indices.

    The format says so to the browser, which sees to it at any zoom (whole.js).
    """
    few = {"tick0": 0, "dtick": 1} if count <= most else {}
    return {"nticks": most, "tickformat": "d", **few}


def line_mode(points: int) -> str:
    """A line's mode: where there are few points each is marked, so that even one can be seen."""
    return "lines+markers" if points <= FEW else "lines"


def ends_of_bar(
    axis: str, low: float, high: float, beyond: tuple[bool, bool] = (False, False)
) -> dict[str, Any]:
    """Where a colour axis and its bar end, both labelled, as a patch or for `with_patch`.

    ``beyond`` says whether values lie below and above.

    >>> ends_of_bar("coloraxis", 0.0, 2.0, (False, True))["coloraxis.colorbar.ticktext"]
    ['0', '0.5', '1', '1.5', '≥ 2']
    """
    ticks = [low + (high - low) * step / 4 for step in range(5)]
    texts = [written(tick, ".3g") for tick in ticks]
    if beyond[0]:
        texts[0] = f"≤ {texts[0]}"
    if beyond[1]:
        texts[-1] = f"≥ {texts[-1]}"
    return {
        f"{axis}.cmin": low,
        f"{axis}.cmax": high,
        f"{axis}.colorbar.tickvals": ticks,
        f"{axis}.colorbar.ticktext": texts,
    }


def with_patch(figure: go.Figure, patch: dict[str, Any]) -> go.Figure:
    """The figure with what a patch says, in Plotly's names with dots."""
    for name, value in patch.items():
        figure.layout[name] = value
    return figure


def on_cells(across: Indices, up: Indices) -> dict[str, Any]:
    """Where a heatmap's cells lie: each in the middle of the indices behind it.

    Where a cell shows another index than its place says, ``meta`` lists those for the hover.
    """
    columns, rows = shown(across), shown(up)
    lie = [list(range(cells.start, cells.stop)) for cells in (across, up)]
    meta = {} if [columns, rows] == lie else {"meta": {"across": columns, "up": rows}}
    return {
        **meta,
        "x0": across.start + (across.step - 1) / 2,
        "dx": across.step,
        "y0": up.start + (up.step - 1) / 2,
        "dy": up.step,
    }


def middles(indices: Indices) -> list[float]:
    """The mean index behind each cell; the last cell may have fewer indices than the others."""
    firsts = range(indices.start, indices.stop, indices.step)
    return [(first + min(first + indices.step, indices.stop) - 1) / 2 for first in firsts]


def heading(text: str, across: Sequence[float], top: float, yshift: int = 5) -> dict[str, Any]:
    """A line over the middle of a picture that goes ``across``, in shares of the figure."""
    return {
        "text": f"<b>{text}</b>", "x": sum(across) / 2, "y": top, "xref": "paper", "yref": "paper",
        "xanchor": "center", "yanchor": "bottom", "yshift": yshift, "showarrow": False,
        "font": {"size": 15},
    }  # fmt: skip


def nice_ceiling(peak: float) -> float:
    """The next number from 1, 1.5, 2, 3, 5, 7 times a power of ten: a range that rarely changes.

    1 for what has no size: 0, a negative number, NaN, or one beyond 1e300.

    >>> nice_ceiling(0.23), nice_ceiling(412.0)
    (0.3, 500.0)
    """
    if not 1e-300 < peak < 1e300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(peak))
    steps = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)
    return next(step * power for step in steps if step * power >= peak * (1 - 1e-9))


def colour_peak(table: Float[np.ndarray, "n d"]) -> float:
    """Where the colours of a table's picture end: its greatest magnitude, at most 4 spreads.

    A spread is the root mean square. One row that is far larger than all others (BERT's first one)
    would otherwise leave nothing of the others to be seen.
    """
    exact = table.astype(np.float64)
    return float(np.minimum(np.abs(exact).max(), 4 * np.sqrt(np.square(exact).mean())))
