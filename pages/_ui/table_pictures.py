"""From tables and runs to what the plot component takes: figures, cells, curves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
import torch
from cachetools import LRUCache, cached
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.figures import measures as figures
from pages._ui.figures.table import (
    Beside,
    LookupLook,
    Packed,
    colour_range,
    comparison_figure,
    gradient_figure,
    lookup_figure,
    marked,
    training_figure,
)
from pages._ui.table_training import Progress
from posembed_core.analysis import (
    colour_peak,
    cosine_similarity,
    distance_decay,
    fourier_power,
    patch_similarity,
    principal_components,
    row_norms,
    singular_values,
)
from posembed_core.film import Course, Film, course, film
from posembed_core.position_table import PositionTable
from posembed_core.preview import nice_ceiling
from posembed_core.resolution import MAX_COLUMNS, MAX_ROWS, Span, pool, span
from posembed_core.training import GradientStep, Snapshot, TrainingSpec

FILM_BYTES = 128 * 2**20
_SIDE = 256  # cells of a similarity


@dataclass(frozen=True, eq=False)
class Packs:
    """A film or a single frame of a run, ready to be sent, and its numbers."""

    film: Film
    numbers: Course
    arrays: dict[str, live.PackedArray]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(len(array.data) for array in self.arrays.values())


def show_training(progress: Progress, alt: str) -> None:
    """The newest snapshot while the run goes on, and all of them to play through when it rests."""
    spec, count = progress.spec, len(progress.snapshots)
    take = _still if progress.goes_on else _film_of
    packs = take(spec, progress.snapshots)
    shown = packs.film
    steps = [*range(0, spec.steps, spec.snapshot_every), spec.steps]
    # A film's curves have a value for each of its frames; else they wait for those to come.
    missing = [None] * (len(steps) - count if progress.goes_on else 0)
    losses = np.array([*packs.numbers.losses, *missing], dtype=float)
    adjacent = np.array([*packs.numbers.adjacent, *missing], dtype=float)
    # So that attention to everything alike looks pale, as the little that it is.
    peak = max(float(shown.attention.max()), min(1.0, 10 / spec.max_seq_len))
    live.plot(
        _training_figure(tuple(steps), spec.max_seq_len, spec.embed_dim, shown.rows, shown.columns),
        key="table.training",
        arrays=packs.arrays,
        mixes={name: {name: 1.0} for name in packs.arrays},
        lines={"loss": losses, "adjacent": adjacent},
        patch={
            **colour_range("coloraxis", nice_ceiling(float(shown.table.abs().max()))),
            **colour_range("coloraxis3", nice_ceiling(peak)),
            "yaxis4.range": [0, nice_ceiling(max(packs.numbers.losses)) * 1.04],
        },
        snapshots=[f"step {step} of {spec.steps}" for step in packs.numbers.steps],
        grow=["loss", "adjacent"],
        alt=alt,
    )


def show_lookup(
    table: PositionTable, position: int, added: Tensor | None, there: bool, alt: str
) -> str:
    """The table with one position marked, and its row; returns what a cell of it is.

    ``added`` says of each position whether its row was added; ``there`` whether the position is.
    """
    key = "table.lookup"
    zoom = live.zoom_of(key)
    rows = span(table.max_seq_len, MAX_ROWS, *zoom.get("xaxis", (None, None)))
    columns = span(table.embed_dim, MAX_COLUMNS, *zoom.get("yaxis", (None, None)))
    look = LookupLook(rows, columns, table.max_seq_len, table.embed_dim, added is not None)
    arrays = {"table": live.pack_array(pool(table.rows, rows, columns).T.numpy())}
    if added is not None:
        shares = pool(added.to(torch.float32)[:, None], rows, Span(0, 1))
        arrays["added"] = live.pack_array(shares.T.numpy())
    peak, highest = nice_ceiling(colour_peak(table.rows)), float(table.rows.abs().max())
    row = table.table([position])[0] if there else torch.full((table.embed_dim,), torch.nan)
    row_peak = nice_ceiling(max(peak, float(row.nan_to_num().abs().max()))) * 1.04
    live.plot(
        _lookup_figure(look),
        key=key,
        arrays=arrays,
        mixes={name: {name: 1.0} for name in arrays},
        lines={"row": row.numpy()},
        patch={
            **colour_range("coloraxis", peak),
            **marked(position),
            "shapes[0].visible": there,
            "yaxis2.range": [-row_peak, row_peak],
        },
        alt=alt,
    )
    beyond = f" Colours end at ±{peak:g}; the greatest value is {highest:.3g}."
    return cells(rows, columns) + (beyond if highest > peak else "")


def show_gradient(lesson: GradientStep, alt: str) -> None:
    """The gradient of one step, and what the step changed."""
    length, width = lesson.grad.shape
    rows, columns = span(length, MAX_ROWS), span(width, MAX_COLUMNS)
    pictures = {"gradient": lesson.grad, "change": lesson.after - lesson.before}
    arrays = {
        name: live.pack_array(pool(matrix, rows, columns).T.numpy())
        for name, matrix in pictures.items()
    }
    norms = row_norms(lesson.grad)
    peaks = [nice_ceiling(float(matrix.abs().max())) for matrix in pictures.values()]
    live.plot(
        _gradient_figure(length, width, rows, columns),
        key="table.gradient",
        arrays=arrays,
        mixes={name: {name: 1.0} for name in arrays},
        lines={"norm": norms.numpy()},
        patch={
            **colour_range("coloraxis", peaks[0]),
            **colour_range("coloraxis2", peaks[1]),
            "yaxis3.range": [0, nice_ceiling(float(norms.max())) * 1.04],
        },
        alt=alt,
    )


def show_comparison(tables: Sequence[PositionTable], in_spreads: bool, alt: str) -> None:
    """Tables beside each other on one scale: their values, or multiples of their own spread."""
    besides, similar, arrays, peak = [], [], {}, 0.0
    for index, table in enumerate(tables, start=1):
        rows, columns = span(table.max_seq_len, _SIDE), span(table.embed_dim, _SIDE)
        title = f"{table.source}: {table.max_seq_len} × {table.embed_dim}"
        besides.append(Beside(title, rows, columns, table.max_seq_len, table.embed_dim))
        similar.append(span(table.max_seq_len, _SIDE))
        unit = float(table.rows.std(correction=0)) if in_spreads else 1.0
        shown = pool(table.rows, rows, columns) / (unit or 1.0)
        peak = max(peak, float(shown.abs().max()))
        arrays[f"table {index}"] = live.pack_array(shown.T.numpy())
        arrays[f"similarity {index}"] = live.pack_array(_similar(table))
    live.plot(
        _comparison_figure(tuple(besides), tuple(similar)),
        key="table.comparison",
        arrays=arrays,
        mixes={name: {name: 1.0} for name in arrays},
        # A real table's first row is far larger than all others: beyond 4 spreads it is just dark.
        patch=colour_range("coloraxis", 4.0 if in_spreads else nice_ceiling(peak)),
        alt=alt,
    )


def show_measure(table: PositionTable, which: str, alt: str) -> None:
    """One measure of a table."""
    live.plot(_measure_figure(table, which), key=f"table.measure.{which}", alt=alt)


def cells(rows: Span, columns: Span) -> str:
    """What a cell stands for."""
    if rows.step == columns.step == 1:
        return "Each cell is one value."
    return (
        f"Each cell is the mean of {rows.step} × {columns.step} values (positions × dimensions); "
        "zoom in until it is one."
    )


# What a whole class watches is drawn once.
@cached(
    LRUCache(16),
    key=lambda spec, snapshots: (spec, len(snapshots)),
    condition=threading.Condition(),
)
def _still(_spec: TrainingSpec, snapshots: Sequence[Snapshot]) -> Packs:
    shown = film(snapshots[-1:])
    return Packs(shown, course(snapshots), _pack(shown))


@cached(
    LRUCache(FILM_BYTES, getsizeof=lambda packs: packs.size),
    key=lambda spec, snapshots: (spec, len(snapshots)),
    condition=threading.Condition(),
)
def _film_of(_spec: TrainingSpec, snapshots: Sequence[Snapshot]) -> Packs:
    shown = film(snapshots)
    return Packs(shown, course(snapshots), _pack(shown))


def _pack(shown: Film) -> dict[str, live.PackedArray]:
    pictures = {
        "table": shown.table, "similarity": shown.similarity, "attention": shown.attention,
    }  # fmt: skip
    return {name: live.pack_array(cells.numpy()) for name, cells in pictures.items()}


def _packed(packed: Packed) -> live.PackedFigure:
    figure, narrow = packed
    return live.pack_figure(figure, narrow=narrow)


@cached(LRUCache(64), condition=threading.Condition())
def _training_figure(*shape: Any) -> live.PackedFigure:
    return _packed(training_figure(*shape))


@cached(LRUCache(64), condition=threading.Condition())
def _lookup_figure(look: LookupLook) -> live.PackedFigure:
    return _packed(lookup_figure(look))


@cached(LRUCache(64), condition=threading.Condition())
def _gradient_figure(*shape: Any) -> live.PackedFigure:
    return _packed(gradient_figure(*shape))


@cached(LRUCache(64), condition=threading.Condition())
def _comparison_figure(*shape: Any) -> live.PackedFigure:
    return _packed(comparison_figure(*shape))


@cached(LRUCache(64), key=lambda table: table.digest, condition=threading.Condition())
def _similar(table: PositionTable) -> Float[np.ndarray, "cells cells"]:
    positions = span(table.max_seq_len, _SIDE)
    found: np.ndarray = cosine_similarity(table.rows, positions, positions).cells().numpy()
    return found


@st.cache_resource(
    scope="session",
    max_entries=8,
    show_spinner=False,
    hash_funcs={PositionTable: lambda table: table.digest},
)
def _measure_figure(table: PositionTable, which: str) -> live.PackedFigure:
    return _packed(_MEASURES[which](table))


def _similarity(table: PositionTable) -> Packed:
    positions = span(table.max_seq_len, _SIDE)
    found = cosine_similarity(table.rows, positions, positions)
    return figures.similarity_figure(found, positions, distance_decay(table.rows))


def _patches(table: PositionTable) -> Packed:
    return figures.patches_figure(patch_similarity(table.rows), row_norms(table.rows))


def _fourier(table: PositionTable) -> Packed:
    power = fourier_power(table.rows)
    lines, columns = span(len(power.frequencies), MAX_ROWS), span(table.embed_dim, MAX_COLUMNS)
    return figures.fourier_figure(power, pool(power.power.sqrt(), lines, columns), lines, columns)


_MEASURES: dict[str, Callable[[PositionTable], Packed]] = {
    "norms": lambda table: figures.norms_figure(row_norms(table.rows)),
    "similarity": _similarity,
    "patches": _patches,
    "singular values": lambda table: figures.singular_figure(singular_values(table.rows)),
    "waves": _fourier,
    "components": lambda table: figures.components_figure(principal_components(table.rows)),
}
