"""A figure with its numbers: the cells and curves that would otherwise be sent separately."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike


def filled(
    figure: go.Figure,
    cells: Mapping[str, ArrayLike],
    lines: Mapping[str, ArrayLike],
    patch: Mapping[str, Any],
) -> go.Figure:
    """A copy of the figure as it stands on the page.

    ``cells`` and ``lines`` are by the name of their trace (its ``uid``, if any), ``patch``
    by Plotly's attribute strings, as ``pages._ui.live.plot`` takes them.
    """
    copy = go.Figure(figure)
    for trace in copy.data:
        name = trace.uid or trace.name
        if name in cells:
            trace.z = cells[name]
            if trace.meta:
                _name_indices(trace)
        if name in lines:
            trace.y = lines[name]
    for name, value in patch.items():
        copy.layout[name] = value
    return copy


def _name_indices(trace: Any) -> None:
    # As heatmaps.js does on the page.
    across, up = trace.meta["across"], trace.meta["up"]
    trace.customdata = np.stack(np.meshgrid(across, up), axis=-1)
    template = trace.hovertemplate.replace("%{x}", "%{customdata[0]}")
    trace.hovertemplate = template.replace("%{y}", "%{customdata[1]}")
