"""A picture as a value: shown live on the page, or filled with its numbers for a download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from pages._ui import live
from pages._ui.figures.axes import TwoLayouts
from pages._ui.server.kept import kept
from pages._ui.takeaway.filled import filled


@dataclass(frozen=True, eq=False)
class Chart:
    """What a live plot shows: a figure without numbers, and the numbers.

    ``build(*shape)`` makes the figure, and what replaces its layout on a phone; ``shape`` must be
    hashable. Each of ``differences`` names two arrays: its cells are the first's minus
    the second's. ``exact`` sends all digits that float32 has. Below ``narrow_width`` pixels the
    chart has its layout of a phone.
    """

    build: Callable[..., TwoLayouts]
    shape: tuple[Any, ...]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    lines: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    patch: Mapping[str, Any] = field(default_factory=dict)
    differences: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    exact: bool | None = None
    narrow_width: int | None = None
    lens: live.lens.Lens | None = None

    def figure(self) -> go.Figure:
        """The figure with its numbers."""
        cells = {name: np.asarray(array) for name, array in self.arrays.items()}
        cells |= {
            name: cells[array] - cells[less] for name, (array, less) in self.differences.items()
        }
        return filled(self.build(*self.shape)[0], cells, self.lines, self.patch)


def show(chart: Chart, key: str, alt: str) -> live.events.PlotEvents:
    """The chart on the page."""
    mixes = {name: {name: 1.0} for name in chart.arrays}
    mixes |= {name: {array: 1.0, less: -1.0} for name, (array, less) in chart.differences.items()}
    return live.plot(
        packed(chart.build, chart.shape, chart.narrow_width),
        key=key,
        arrays={
            name: live.pack_array(cells, exact=chart.exact) for name, cells in chart.arrays.items()
        },
        mixes=mixes,
        lines=chart.lines,
        patch=chart.patch,
        alt=alt,
        lens=chart.lens,
    )


@kept()
def packed(
    build: Callable[..., TwoLayouts],
    shape: tuple[Any, ...],
    narrow_width: int | None = None,
) -> live.PackedFigure:
    """The figure of a chart, packed once for all who see it."""
    figure, narrow = build(*shape)
    return live.pack_figure(figure, narrow=narrow, narrow_width=narrow_width)
