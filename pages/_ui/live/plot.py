"""A chart that follows moving values: the figure once, arrays when they change, frames always."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import ArrayLike

from pages._ui.live import counts
from pages._ui.live.assets import parts_url, plotly_url, stub
from pages._ui.live.lens import Lens
from pages._ui.live.notes import Note
from pages._ui.live.packets import (
    FrameHeader,
    PackedArray,
    PackedFigure,
    pack_array,
    pack_figure,
    packet,
)
from pages._ui.live.shelf import shelf
from pages._ui.live.spoken import spoken

# The chart lives in the page's own document: Plotly's drag handlers don't work in a shadow root.
_chart = st.components.v2.component("live_plot", js=stub("plot.js"), isolate_styles=False)

_AXIS = re.compile(r"[xy]axis\d{0,3}")


@dataclass(frozen=True)
class Click:
    """A clicked point. x, y: its coordinates; row, column: its place in a heatmap's array.

    For a trace that is no heatmap, row is None and column is the point's index.
    """

    trace: str
    x: float | str | None
    y: float | str | None
    row: int | None
    column: int | None


@dataclass(frozen=True)
class PlotEvents:
    """What the reader did.

    click: in this run only; pointed: the cell whose exact values the lens asks for; zoom: axis →
    range, of the zoomed axes.
    """

    click: Click | None = None
    pointed: Click | None = None
    zoom: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def plot(
    figure: go.Figure | PackedFigure,
    *,
    key: str,
    arrays: Mapping[str, PackedArray | ArrayLike] | None = None,
    mixes: Mapping[str, Mapping[str, float]] | None = None,
    lines: Mapping[str, ArrayLike] | None = None,
    patch: Mapping[str, Any] | None = None,
    height: int | None = None,
    alt: str = "",
    snapshots: Sequence[str] = (),
    grow: Sequence[str] = (),
    notes: Iterable[Note] = (),
    lens: Lens | None = None,
    zoom: Mapping[str, tuple[float, float]] | None = None,
) -> PlotEvents:
    """Draw a figure that stays on the page while its values change.

    figure: any figure; packed once (`pack_figure`) and cached by the caller, a frame costs little.
        Its zoom outlives every change. For heatmaps, give the axes their full `range` and the
        colours their `cmin`/`cmax` (or `zmin`/`zmax`), so that a moving value rescales neither.
    arrays: name → matrix (rows, cols). An array that stays the same travels once. A stack (frames,
        rows, cols) gets a player under the chart; the browser flips through it by itself.
    mixes: heatmap trace → {array: coefficient}; its cells are Σ coefficient · array, summed in the
        browser. The array "" stands for the constant 1.
    lines: trace → (n,) new y values.
    patch: Plotly's attribute strings → values, as "annotations[0].text" or "coloraxis.cmax", for
        what must change with a frame; costs a redraw when it differs from the frame before.
    height: CSS pixels, instead of the figure's own.
    alt: one sentence for readers who cannot see the chart.
    snapshots: what the player calls the frames of a stack, instead of their numbers.
    grow: the lines that reach only as far as the snapshot shown; n values for all of the frames.
    notes: what is written under the chart; costs next to nothing a frame, where Streamlit's own
        elements take milliseconds each.
    lens: what is said over the chart of the cell that is pointed at.
    zoom: axis → range to go to now, as for a link; {} for no zoom, None to leave the reader's.

    Raises ValueError for a trace or an array that isn't there, or arrays of different shapes in one
    mix.
    """
    if not isinstance(figure, PackedFigure):
        figure = pack_figure(figure)
    packed = {
        name: array if isinstance(array, PackedArray) else pack_array(array)
        for name, array in {**figure.arrays, **(arrays or {})}.items()
    }
    blends = {name: {name: 1.0} for name in figure.arrays} | dict(mixes or {})
    _check(figure, packed, blends, lines or {})
    needed = {name for mix in blends.values() for name in mix if name}
    curves = {
        name: np.ascontiguousarray(values, dtype="<f4") for name, values in (lines or {}).items()
    }
    shelf.put(figure.id, figure.data)
    for name in needed:
        shelf.put(packed[name].id, packed[name].data)
    header: FrameHeader = {
        "plotly": plotly_url(),
        "parts": parts_url(),
        "figure": figure.id,
        "needs": {name: packed[name].id for name in sorted(needed)},
        "mixes": {
            name: [(array, float(coefficient)) for array, coefficient in mix.items()]
            for name, mix in blends.items()
        },
        "patch": dict(patch or {}),
        "height": height,
        "alt": spoken(alt),
        "snapshots": list(snapshots),
        "grow": list(grow),
        "notes": [vars(note) for note in notes],
        "lens": asdict(lens) if lens else None,
        "zoom": zoom,
        "lines": list(curves),
        "buffers": [("f4", len(curve)) for curve in curves.values()],
    }
    frame = packet(header, [curve.tobytes() for curve in curves.values()])
    counts.sent.add(len(frame))
    # `missing` only asks for another run, which puts back on the shelf what had left it.
    result = _chart(
        key=key,
        data=frame,
        on_zoom_change=_ignore,
        on_click_change=_ignore,
        on_lens_change=_ignore,
        on_missing_change=_ignore,
    )
    return _read(result, figure)


def events_of(key: str, figure: PackedFigure | None = None) -> PlotEvents:
    """What the reader did with the chart `key`, before the chart is drawn in this run.

    Clicks are only read where the figure is given, since they must be on one of its traces.
    """
    state = st.session_state.get(key)
    return _read(state if isinstance(state, Mapping) else {}, figure)


def _read(state: Mapping[str, object], figure: PackedFigure | None) -> PlotEvents:
    click = _read_click(state.get("click"), figure.traces) if figure else None
    pointed = _read_click(state.get("lens"), figure.traces) if figure else None
    return PlotEvents(click=click, pointed=pointed, zoom=_read_zoom(state.get("zoom")))


def _check(
    figure: PackedFigure,
    arrays: Mapping[str, PackedArray],
    mixes: Mapping[str, Mapping[str, float]],
    lines: Mapping[str, ArrayLike],
) -> None:
    """Every name must be known, every mix of one shape, every line one-dimensional."""
    for name, mix in mixes.items():
        if name not in figure.heatmaps:
            raise ValueError(f"no heatmap {name!r}; there are {_listed(figure.heatmaps)}")
        unknown = [array for array in mix if array and array not in arrays]
        if unknown:
            raise ValueError(f"no array {unknown[0]!r} for {name!r}; there are {_listed(arrays)}")
        shapes = {arrays[array].shape[-2:] for array in mix if array}
        if len(shapes) != 1:
            raise ValueError(f"the arrays of {name!r} must have one shape, got {shapes or 'none'}")
        if not all(math.isfinite(coefficient) for coefficient in mix.values()):
            raise ValueError(f"the coefficients of {name!r} must be finite, got {dict(mix)}")
    for name, values in lines.items():
        if name not in figure.traces:
            raise ValueError(f"no trace {name!r}; there are {_listed(figure.traces)}")
        if np.ndim(values) != 1:
            raise ValueError(f"line {name!r} must have shape (n,), got {np.shape(values)}")


def _listed(names: Sequence[str] | Mapping[str, Any] | frozenset[str]) -> str:
    return ", ".join(map(repr, sorted(names))) or "none"


def _read_click(sent: object, traces: Sequence[str]) -> Click | None:
    """A click as the browser sent it, or None if it cannot be one of this chart."""
    if not isinstance(sent, Mapping) or sent.get("trace") not in traces:
        return None
    return Click(
        trace=sent["trace"],
        x=_coordinate(sent.get("x")),
        y=_coordinate(sent.get("y")),
        row=_index(sent.get("row")),
        column=_index(sent.get("column")),
    )


def _coordinate(value: object) -> float | str | None:
    if isinstance(value, str):
        return value[:200]
    return float(value) if _is_number(value) else None  # type: ignore[arg-type]


def _index(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    return None


def _is_number(value: object) -> bool:
    """Whether `value` is a finite number that a float holds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _read_zoom(sent: object) -> dict[str, tuple[float, float]]:
    """Ranges as the browser sent them, without what makes no sense."""
    zoom: dict[str, tuple[float, float]] = {}
    if not isinstance(sent, Mapping):
        return zoom
    for axis, ends in list(sent.items())[:64]:
        if not (isinstance(axis, str) and _AXIS.fullmatch(axis) and isinstance(ends, list)):
            continue
        if len(ends) == 2 and all(map(_is_number, ends)) and ends[0] != ends[1]:
            zoom[axis] = (float(ends[0]), float(ends[1]))
    return zoom


def _ignore() -> None:
    """Streamlit only keeps a component's state between runs if it has a callback."""
