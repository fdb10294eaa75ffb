"""From tables to pictures: figures, cells, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
import torch
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.escaped import in_plotly
from pages._ui.figures import measures as figures
from pages._ui.figures.axes import TwoLayouts, colour_peak, nice_ceiling, with_patch
from pages._ui.figures.table import (
    Beside,
    LookupLook,
    colour_range,
    comparison_figure,
    gradient_figure,
    lookup_figure,
    marked,
)
from pages._ui.server.kept import kept
from pages._ui.table.colours import Ends, ends_of
from pages._ui.takeaway import Chart
from pages._ui.theme import tinted
from posembed_core.pictures.resolution import (
    MAX_COLUMNS,
    MAX_ROWS,
    Span,
    choose,
    choose_rows,
    mean_cells,
    span,
)
from posembed_core.tables.measures.analysis import (
    cosine_similarity,
    distance_decay,
    fourier_power,
    patch_similarity,
    principal_components,
    row_norms,
    singular_values,
)
from posembed_core.tables.position_table import PositionTable
from posembed_core.training.training import GradientStep

LOOKUP = "table.lookup"
_ROWS = live.lens.Group(
    ("table",),
    f"position {{across}}, dimension {{up}}: P = {tinted('position', '{P}')}",
    {"P": [("table", 1.0)]},
)
Window = tuple[Span, Span]  # positions, dimensions
_SIDE = 256  # cells of a similarity


def lookup_chart(
    table: PositionTable,
    position: int,
    added: Tensor | None,
    has_row: bool,
    window: Window,
    full: bool = False,
) -> Chart:
    """A window of the table with one position marked, and its row; ``full`` cuts no colour.

    ``added`` says of each position whether its row was added, ``has_row`` whether this one has one.
    """
    rows, columns = window
    look = LookupLook(rows, columns, table.max_seq_len, table.embed_dim, added is not None)
    arrays = {"table": choose(table.rows, rows, columns).T.numpy()}
    ends = lookup_ends(table, window, full)
    if added is not None:
        arrays["added"] = choose_rows(added.to(torch.float32), rows)[None].numpy()
    row = table.table([position])[0] if has_row else torch.full((table.embed_dim,), torch.nan)
    row_peak = nice_ceiling(max(ends.peak, float(row.nan_to_num().abs().max()))) * 1.04
    return Chart(
        lookup_figure,
        (look,),
        arrays,
        lines={"row": row.numpy()},
        exact=True,
        lens=live.lens.Lens([_ROWS]),
        patch={
            **ends.patch("coloraxis"),
            **marked(position),
            "shapes[0].visible": has_row,
            "yaxis2.range": [-row_peak, row_peak],
        },
    )


def lookup_window(length: int, width: int) -> Window:
    """Which positions and dimensions of such a table are shown, as it is zoomed."""
    zoom = live.events.events_of(LOOKUP).zoom
    return (
        span(length, MAX_ROWS, *zoom.get("xaxis", (None, None))),
        span(width, MAX_COLUMNS, *zoom.get("yaxis", (None, None)), of_dimensions=True),
    )


def lookup_cells(table: PositionTable, window: Window, full: bool = False) -> str:
    """What a cell of the table's picture is, and where its colours end."""
    return f"{cells(*window)} {lookup_ends(table, window, full).sentence}"


def lookup_ends(table: PositionTable, window: Window, full: bool) -> Ends:
    """Where the colours of a table's picture end."""
    shown = choose(table.rows, *window).numpy()
    # Of the whole table, so that they stand still while it is zoomed.
    return ends_of(
        [shown], float(table.rows.abs().max()) if full else colour_peak(table.rows.numpy())
    )


def gradient_chart(step: GradientStep) -> Chart:
    """The gradient of one step, and what the step changed."""
    length, width = step.grad.shape
    rows, columns = span(length, MAX_ROWS), span(width, MAX_COLUMNS, of_dimensions=True)
    pictures = {"gradient": step.grad, "change": step.after - step.before}
    norms = row_norms(step.grad)
    peaks = [nice_ceiling(float(matrix.abs().max())) for matrix in pictures.values()]
    return Chart(
        gradient_figure,
        (length, width, rows, columns),
        {name: choose(matrix, rows, columns).T.numpy() for name, matrix in pictures.items()},
        lines={"norm": norms.numpy()},
        patch={
            **colour_range("coloraxis", peaks[0]),
            **colour_range("coloraxis2", peaks[1]),
            "yaxis3.range": [0, nice_ceiling(float(norms.max())) * 1.04],
        },
    )


def comparison_chart(
    tables: Sequence[PositionTable], in_spreads: bool, full: bool = False
) -> Chart:
    """Tables beside each other on one scale: their values, or multiples of their own spread."""
    besides, similar, arrays = [], [], {}
    for index, table in enumerate(tables, start=1):
        rows = span(table.max_seq_len, _SIDE)
        columns = span(table.embed_dim, _SIDE, of_dimensions=True)
        title = f"{in_plotly(table.source)}: {table.max_seq_len} × {table.embed_dim}"
        besides.append(Beside(title, rows, columns, table.max_seq_len, table.embed_dim))
        similar.append(span(table.max_seq_len, _SIDE))
        arrays[f"table {index}"] = _besides(table, in_spreads).T
        arrays[f"similarity {index}"] = _similar(table)
    return Chart(
        comparison_figure,
        (tuple(besides), tuple(similar)),
        arrays,
        patch=comparison_ends(tables, in_spreads, full).patch("coloraxis"),
    )


def comparison_ends(tables: Sequence[PositionTable], in_spreads: bool, full: bool) -> Ends:
    """Where the colours of tables beside each other end."""
    shown = [_besides(table, in_spreads) for table in tables]
    highest = max(float(np.abs(cells).max()) for cells in shown)
    # A real table's first row is far larger than all others: beyond 4 spreads it is just dark.
    return ends_of(shown, min(highest, 4.0) if in_spreads and not full else highest)


def _besides(table: PositionTable, in_spreads: bool) -> Float[np.ndarray, "rows columns"]:
    rows = span(table.max_seq_len, _SIDE)
    columns = span(table.embed_dim, _SIDE, of_dimensions=True)
    unit = float(table.rows.std(correction=0)) if in_spreads else 1.0
    cells: np.ndarray = (choose(table.rows, rows, columns) / (unit or 1.0)).numpy()
    return cells


def show_measure(table: PositionTable, which: str, alt: str, full: bool = False) -> None:
    """One measure of a table."""
    live.plot(_measure_figure(table, which, full), key=f"table.measure.{which}", alt=alt)


def cells(rows: Span, columns: Span) -> str:
    """What a cell stands for."""
    if rows.step == columns.step == 1:
        return "Each cell is one value."
    return (
        f"Each cell is one of {rows.step} × {columns.step} values (positions × dimensions), chosen "
        "at random; zoom in to see all."
    )


@kept(key=lambda table: table.digest)
def _similar(table: PositionTable) -> Float[np.ndarray, "cells cells"]:
    positions = span(table.max_seq_len, _SIDE)
    cosines: np.ndarray = cosine_similarity(table.rows, positions, positions).cells().numpy()
    return cosines


@st.cache_resource(
    scope="session",
    max_entries=8,
    show_spinner=False,
    hash_funcs={PositionTable: lambda table: table.digest},
)
def _measure_figure(table: PositionTable, which: str, full: bool) -> live.PackedFigure:
    figure, narrow = measure_figure(table, which, full)
    return live.pack_figure(figure, narrow=narrow)


def measure_figure(table: PositionTable, which: str, full: bool = False) -> TwoLayouts:
    """The figure of a measure, with its numbers."""
    figure, narrow = _MEASURES[which](table)
    if which == "waves":
        with_patch(figure, waves_ends(table, full).patch("coloraxis"))
    return figure, narrow


def waves_ends(table: PositionTable, full: bool) -> Ends:
    """Where the colours of the waves' amplitudes end."""
    amplitudes = _amplitudes(table)
    peak = float(amplitudes.max()) if full else colour_peak(amplitudes)
    return ends_of([amplitudes], peak, unsigned=True)


def _amplitudes(table: PositionTable) -> Float[np.ndarray, "lines columns"]:
    waves = fourier_power(table.rows)
    lines, columns = span(len(waves.frequencies), MAX_ROWS), span(table.embed_dim, MAX_COLUMNS)
    cells: np.ndarray = mean_cells(waves.power.sqrt(), lines, columns).numpy()
    return cells


def _similarity(table: PositionTable) -> TwoLayouts:
    positions = span(table.max_seq_len, _SIDE)
    decay = distance_decay(table.rows)
    return figures.similarity_figure(
        _similar(table), positions, decay.values.numpy(), decay.pairs.numpy()
    )


def _patches(table: PositionTable) -> TwoLayouts:
    cosines = patch_similarity(table.rows).cells()
    return figures.patches_figure(cosines.numpy(), row_norms(table.rows).numpy())


def _fourier(table: PositionTable) -> TwoLayouts:
    waves = fourier_power(table.rows)
    lines, columns = span(len(waves.frequencies), MAX_ROWS), span(table.embed_dim, MAX_COLUMNS)
    means = waves.power.to(torch.float64).mean(dim=1)
    return figures.fourier_figure(
        waves.frequencies.numpy(), means.numpy(), _amplitudes(table), lines, columns
    )


def _components(table: PositionTable) -> TwoLayouts:
    components = principal_components(table.rows)
    return figures.components_figure(components.curves.numpy(), components.shares.numpy())


_MEASURES: dict[str, Callable[[PositionTable], TwoLayouts]] = {
    "norms": lambda table: figures.norms_figure(row_norms(table.rows).numpy()),
    "similarity": _similarity,
    "patches": _patches,
    "singular values": lambda table: figures.singular_figure(singular_values(table.rows).numpy()),
    "waves": _fourier,
    "components": _components,
}
