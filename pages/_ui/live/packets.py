"""Arrays and figures as bytes: a small JSON header, then the numbers.

A packet:  [header length, uint32][header, JSON][spaces up to a multiple of 8][buffer][buffer]…
           header["buffers"] = [[dtype, number of items], …]; each buffer starts at a multiple of 8
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray
from plotly.utils import PlotlyJSONEncoder

# Up to this many cells an array travels as float32 (262 kB), above as int16.
EXACT_CELLS = 65_536
# A chart of fewer CSS pixels than this has the layout of a phone, unless its figure says another.
NARROW = 640
# Canvases, and Plotly's own heatmaps, fail beyond about this many pixels a side.
MAX_SIDE = 16_384
_NAN_CODE = -32_768
_TOP_CODE = 32_767


class ArrayHeader(TypedDict):
    """What a packed array says of itself; value = offset + step · cell."""

    frames: int
    rows: int
    cols: int
    offset: float
    step: float
    buffers: list[tuple[str, int]]


class FigureHeader(TypedDict):
    """A packed figure is JSON in its one buffer."""

    buffers: list[tuple[str, int]]


class FrameHeader(TypedDict):
    """A frame of a chart; its buffers are the lines' y values. Browsers' is in js/types.d.ts."""

    plotly: str  # where plotly.js is
    parts: str  # where arrays and figures are; an id follows
    figure: str  # its id
    needs: Mapping[str, str]  # array → id
    mixes: Mapping[str, list[tuple[str, float]]]  # heatmap → arrays and their coefficients
    patch: Mapping[str, Any]  # Plotly's attribute strings → values
    height: int | None
    alt: str
    snapshots: Sequence[str]
    grow: Sequence[str]
    notes: list[dict[str, Any]]  # fields of Line or Table
    lens: Mapping[str, Any] | None  # fields of Lens
    zoom: Mapping[str, tuple[float, float]] | None  # axis → range to go to
    lines: list[str]  # traces, in the buffers' order
    buffers: list[tuple[str, int]]


@dataclass(frozen=True, eq=False)
class PackedArray:
    """A matrix, or a stack of them, as a packet. Equal contents have equal ids.

    value = offset + step · cell; the int16 cell -32768, or a float NaN, stands for "no value".
    """

    id: str
    shape: tuple[int, ...]  # (rows, cols) or (frames, rows, cols)
    step: float
    data: bytes


@dataclass(frozen=True, eq=False)
class PackedFigure:
    """A figure as a packet; its heatmaps' cells are arrays beside it, named like their trace."""

    id: str
    traces: tuple[str, ...]
    heatmaps: frozenset[str]
    arrays: Mapping[str, PackedArray]
    data: bytes


def packet(header: ArrayHeader | FigureHeader | FrameHeader, buffers: Sequence[bytes]) -> bytes:
    """Header and buffers as one byte string (layout at the top of this module)."""
    head = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    head += b" " * (-(4 + len(head)) % 8)
    padded = [buffer + bytes(-len(buffer) % 8) for buffer in buffers]
    return b"".join([len(head).to_bytes(4, "little"), head, *padded])


def pack_array(array: ArrayLike, *, exact: bool | None = None) -> PackedArray:
    """Pack a matrix for `plot`.

    array: (rows, cols), or (frames, rows, cols) for snapshots to play. NaN and ±inf have no colour.
    exact: float32 cells (4 bytes) instead of int16 (2 bytes; at most half a step off, where
        step = largest magnitude / 32767, and 0 stays 0). By default small arrays are exact.

    Raises ValueError for another number of dimensions, an empty array, or one too large to draw.
    """
    values = np.asarray(array)
    if values.ndim not in (2, 3) or values.size == 0:
        raise ValueError(
            f"an array must have shape (rows, cols) or (frames, rows, cols), got {values.shape}"
        )
    if max(values.shape[-2:]) > MAX_SIDE:
        raise ValueError(
            f"an array may have up to {MAX_SIDE} rows and columns, got {values.shape[-2:]}: "
            "pool it first"
        )
    if exact is None:
        exact = values.size <= EXACT_CELLS
    dtype, offset, step = "f4", 0.0, 1.0
    if exact:
        finite = np.where(np.isfinite(values), values, np.nan)
        cells: NDArray[Any] = np.ascontiguousarray(finite, dtype="<f4")
    else:
        dtype = "i2"
        cells, offset, step = _quantise(values)
    frames, rows, cols = (1, *values.shape)[-3:]
    header: ArrayHeader = {
        "frames": frames,
        "rows": rows,
        "cols": cols,
        "offset": offset,
        "step": step,
        "buffers": [(dtype, values.size)],
    }
    data = packet(header, [cells.tobytes()])
    return PackedArray(id=_digest(data), shape=values.shape, step=step, data=data)


def _quantise(values: NDArray[Any]) -> tuple[NDArray[np.int16], float, float]:
    """Cells, offset and step with value ≈ offset + step · cell."""
    known = np.isfinite(values)
    low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0, 0)
    if low <= 0 <= high:  # keep zero exact
        offset, reach = 0.0, max(-low, high)
    else:
        offset, reach = (low + high) / 2, (high - low) / 2
    step = reach / _TOP_CODE or 1.0
    scaled = np.rint((np.where(known, values, offset) - offset) / step)
    cells = np.where(known, scaled, _NAN_CODE).astype("<i2")
    return cells, offset, step


def pack_figure(
    figure: go.Figure,
    *,
    narrow: Mapping[str, Any] | None = None,
    narrow_width: int | None = None,
) -> PackedFigure:
    """Pack a figure for `plot`; worth caching, since turning a figure into JSON takes milliseconds.

    A trace is addressed by its `uid`, else its `name`, else "trace <index>".
    narrow: layout attributes that replace the figure's below `narrow_width` CSS pixels (nested
        dictionaries are merged, lists replaced).
    Any colour may be written as "var(--st-red-color)": the browser fills in the theme's value.
    """
    spec = figure.to_dict()
    if _is_placeholder(spec["layout"].get("template")):
        del spec["layout"]["template"]
    names: list[str] = []
    arrays: dict[str, PackedArray] = {}
    heatmaps: set[str] = set()
    for index, trace in enumerate(spec["data"]):
        name = str(trace.get("uid") or trace.get("name") or f"trace {index}")
        if name in names:
            name = f"{name} #{index}"
        names.append(name)
        if trace["type"] != "heatmap":
            continue
        heatmaps.add(name)
        cells = figure.data[index].z
        if trace.pop("z", None) is not None and len(cells):
            arrays[name] = pack_array(np.asarray(cells, dtype=float))
    body = json.dumps(
        {
            "data": spec["data"],
            "layout": spec["layout"],
            "names": names,
            "narrow": narrow or {},
            "narrowWidth": narrow_width or NARROW,
        },
        cls=PlotlyJSONEncoder,
    ).encode()
    data = packet({"buffers": [("u1", len(body))]}, [body])
    return PackedFigure(
        id=_digest(data),
        traces=tuple(names),
        heatmaps=frozenset(heatmaps),
        arrays=arrays,
        data=data,
    )


def _is_placeholder(template: Any) -> bool:
    """Streamlit's default template, whose colours (#000001 …) only `st.plotly_chart` replaces."""
    return bool(template) and "#000001" in template.get("layout", {}).get("colorway", ())


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
