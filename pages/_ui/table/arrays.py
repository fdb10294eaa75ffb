"""The arrays behind the pictures of the table page, each computed when it is taken away."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from pages._ui.numbers import written
from pages._ui.table.sources import measures
from pages._ui.table.training import Progress
from pages._ui.takeaway import Table
from pages._ui.takeaway.view import whole
from posembed_core.pictures.resolution import Span
from posembed_core.tables.measures.analysis import (
    Measures,
    cosine_similarity,
    distance_decay,
    fourier_power,
    patch_similarity,
    principal_components,
    row_norms,
    singular_values,
)
from posembed_core.tables.measures.sinusoid_fit import SPACINGS
from posembed_core.tables.position_table import PositionTable
from posembed_core.training.film import course
from posembed_core.training.training import GradientStep

# Named so that the page knows it again in a file.
WEIGHT = "position_embeddings.weight"
_COLUMNS = (
    "mean norm", "adjacent cosine", "adjacent cosine, mean row removed", "effective rank",
    "variance in 3 components", "distance to a sinusoid", "base of the sinusoid",
    "1 where its exponents are i/(d/2 - 1)",
)  # fmt: skip


def rows_of(table: PositionTable, name: str = WEIGHT) -> Table:
    """The rows that belong to positions."""
    return whole(name, f"{table.source}, {table.name}: position × dimension", table.rows)


def similarity_of(table: PositionTable, name: str = "similarity") -> Table:
    """The cosine of every two rows, NaN where one is zero."""
    n = table.max_seq_len

    def rows(at: slice) -> Tensor:
        return cosine_similarity(table.rows, Span(at.start, at.stop), Span(0, n)).cells()

    return Table(name, "cosine of each row with each row", (n, n), rows, dtype="<f8")


def of_training(progress: Progress) -> Sequence[Table]:
    """The newest snapshot, and the course of the run."""
    last = progress.last
    table = PositionTable(weight=last.weight, name=f"step {last.step}", source="Trained here")
    n, columns = last.weight.shape[0], ("step", "loss", "adjacent cosine")

    def attention(at: slice) -> Tensor:
        return last.attention()[at]

    def numbers(at: slice) -> Tensor:
        run = course(progress.snapshots)
        adjacent = [math.nan if cosine is None else cosine for cosine in run.adjacent]
        return torch.tensor([run.steps, run.losses, adjacent], dtype=torch.float64).T[at]

    return (
        rows_of(table),
        similarity_of(table),
        Table("attention", "how much each position attends to each by position alone", (n, n),
              attention),
        Table("course", "loss in nats, and mean cosine of adjacent rows, of each snapshot",
              (len(progress.snapshots), 3), numbers, "snapshot", columns, "<f8"),
    )  # fmt: skip


def of_lookup(
    with_added: Callable[[], tuple[PositionTable, Tensor | None]],
    shape: tuple[int, int],
    position: int,
    extended: bool,
) -> Sequence[Table]:
    """The table as it is shown, the row that is looked up, and which rows were added."""

    def added(at: slice) -> Tensor:
        flags = with_added()[1]
        return torch.zeros(0, 1) if flags is None else flags[at, None].to(torch.float32)

    tables = [
        Table(WEIGHT, "the table: position × dimension", shape, lambda at: with_added()[0].rows[at])
    ]
    if 0 <= position < shape[0]:
        row = slice(position, position + 1)
        tables.append(
            Table(
                "row",
                f"row {written(position)}",
                (1, shape[1]),
                lambda _: with_added()[0].rows[row],
                "lookup",
            )
        )
    if extended:
        about = "1 for rows that were added"
        tables.append(Table("added", about, (shape[0], 1), added, columns=("added",)))
    return tables


def of_gradient(step: Callable[[], GradientStep], shape: tuple[int, int]) -> Sequence[Table]:
    """The gradient, the table before and after the step, the change and the norms."""

    def matrix(name: str, about: str, part: Callable[[GradientStep], Tensor]) -> Table:
        return Table(name, about, shape, lambda at: part(step())[at])

    return (
        matrix("gradient", "gradient of the loss: position × dimension", lambda done: done.grad),
        matrix("change", "what the step changed", lambda done: done.after - done.before),
        matrix("before", "the table before the step", lambda done: done.before),
        matrix("after", "the table after the step", lambda done: done.after),
        _table("norms", "norm of each row's gradient", (shape[0], 1),
               lambda: row_norms(step().grad)[:, None], columns=("norm",)),
    )  # fmt: skip


def of_comparison(tables: Sequence[PositionTable]) -> Sequence[Table]:
    """Each table, its similarity, and the measures of all."""

    def numbers(at: slice) -> Tensor:
        return torch.tensor(
            [_numbers(measures(table)) for table in tables[at]], dtype=torch.float64
        )

    sources = ", ".join(table.source for table in tables)
    listed = [
        Table("measures", f"{', '.join(_COLUMNS)}, of {sources}", (len(tables), len(_COLUMNS)),
              numbers, "table", _COLUMNS, "<f8")
    ]  # fmt: skip
    for number, table in enumerate(tables, start=1):
        listed += [rows_of(table, f"table-{number}"), similarity_of(table, f"similarity-{number}")]
    return listed


def of_measure(table: PositionTable, which: str) -> Sequence[Table]:
    """The numbers of one measure's picture, the six measures, and the table."""
    return (*_MEASURES[which](table), *of_comparison([table])[:1], rows_of(table))


def _numbers(of: Measures) -> list[float]:
    fit = of.sinusoid
    wave = (None,) * 3 if fit is None else (fit.distance, fit.base, fit.spacing != SPACINGS[0])
    numbers = (of.mean_norm, of.adjacent, of.adjacent_centred, of.effective_rank,
               of.three_components, *wave)  # fmt: skip
    return [math.nan if number is None else number for number in numbers]


def _table(
    name: str, about: str, shape: tuple[int, int], make: Callable[[], Tensor], **options: Any
) -> Table:
    matrix = cache(make)
    return Table(name, about, shape, lambda at: matrix()[at], **{"dtype": "<f8", **options})


def _norms(table: PositionTable) -> Sequence[Table]:
    shape, rows = (table.max_seq_len, 1), table.rows
    return (
        _table("norms", "norm of each row", shape, lambda: row_norms(rows)[:, None],
               columns=("norm",)),
    )  # fmt: skip


def _similarity(table: PositionTable) -> Sequence[Table]:
    def decay() -> Tensor:
        cosines = distance_decay(table.rows)
        return torch.stack((cosines.values, cosines.pairs.to(torch.float64)), dim=1)

    about = "mean cosine at each distance, and of how many pairs"
    shape, columns = (table.max_seq_len, 2), ("mean cosine", "pairs")
    return (
        similarity_of(table),
        _table("decay", about, shape, decay, row="distance", columns=columns),
    )


def _patches(table: PositionTable) -> Sequence[Table]:
    n, about = table.max_seq_len, "cosines of patches as tiles laid out like the patches"
    tiles = _table("patches", about, (n, n), lambda: patch_similarity(table.rows).cells(),
                   row="row")  # fmt: skip
    return (tiles, *_norms(table))


def _singular(table: PositionTable) -> Sequence[Table]:
    shape, rows = (min(table.rows.shape), 1), table.rows
    return (
        _table("singular-values", "the largest first", shape,
               lambda: singular_values(rows)[:, None], row="number", columns=("value",)),
    )  # fmt: skip


def _waves(table: PositionTable) -> Sequence[Table]:
    lines, power = table.max_seq_len // 2 + 1, cache(lambda: fourier_power(table.rows))
    about = "mean square of each dimension at each frequency"
    return (
        _table("power", about, (lines, table.embed_dim), lambda: power().power, row="line",
               dtype="<f4"),
        _table("frequencies", "cycles per position of each line", (lines, 1),
               lambda: power().frequencies[:, None], row="line", columns=("frequency",)),
    )  # fmt: skip


def _components(table: PositionTable) -> Sequence[Table]:
    n, d = table.rows.shape
    count, components = min(3, n, d), cache(lambda: principal_components(table.rows))
    names = tuple(f"PC {number}" for number in range(1, count + 1))
    return (
        _table("curves", "coordinate of each position along the components", (n, count),
               lambda: components().curves, columns=names),
        _table("shares", "share of each component in the variance", (count, 1),
               lambda: components().shares[:, None], row="component", columns=("share",)),
        _table("directions", "unit vectors of the components", (d, count),
               lambda: components().directions, row="dimension", columns=names),
    )  # fmt: skip


_MEASURES: dict[str, Callable[[PositionTable], Sequence[Table]]] = {
    "norms": _norms,
    "similarity": _similarity,
    "patches": _patches,
    "singular values": _singular,
    "waves": _waves,
    "components": _components,
}
