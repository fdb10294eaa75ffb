"""What a training run looks like, snapshot by snapshot, in pictures of a bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.pictures.resolution import Span, choose, span
from posembed_core.tables.measures.similarity import adjacent_cosine, cosine_similarity
from posembed_core.training.training import Snapshot

SIDE = 128  # cells


@dataclass(frozen=True, eq=False)
class Film:
    """Stacks of pictures, one for each snapshot, float32, of what `rows` and `columns` show.

    ``table`` has dimensions down and positions across, ``similarity`` the cosines of positions with
    positions, ``attention`` how much a position (down) attends to a position (across).
    """

    rows: Span  # the positions
    columns: Span  # the dimensions
    table: Float[Tensor, "frames column_cells row_cells"]
    similarity: Float[Tensor, "frames row_cells row_cells"]
    attention: Float[Tensor, "frames row_cells row_cells"]


@dataclass(frozen=True)
class Course:
    """A number for each snapshot: its step, its loss, the mean cosine of adjacent rows."""

    steps: tuple[int, ...]
    losses: tuple[float, ...]
    adjacent: tuple[float | None, ...]


def film(snapshots: Sequence[Snapshot], side: int = SIDE) -> Film:
    """The pictures of some snapshots of one run (at least one), each of at most ``side``² cells.

    >>> from posembed_core.training.training import TrainingSpec, train_table
    >>> spec = TrainingSpec(max_seq_len=8, embed_dim=4, steps=4, snapshot_every=2)
    >>> film(list(train_table(spec))).table.shape
    torch.Size([3, 4, 8])
    """
    length, width = snapshots[0].weight.shape
    rows, columns = span(length, side), span(width, side, of_dimensions=True)
    return Film(
        rows,
        columns,
        torch.stack([choose(s.weight, rows, columns).T for s in snapshots]),
        torch.stack([_similarity(s, rows) for s in snapshots]),
        torch.stack([choose(s.attention(), rows, rows) for s in snapshots]),
    )


def course(snapshots: Sequence[Snapshot]) -> Course:
    """The numbers of some snapshots.

    >>> from posembed_core.training.training import TrainingSpec, train_table
    >>> spec = TrainingSpec(max_seq_len=8, embed_dim=4, steps=4, snapshot_every=2)
    >>> course(list(train_table(spec))).steps
    (0, 2, 4)
    """
    return Course(
        tuple(s.step for s in snapshots),
        tuple(s.loss for s in snapshots),
        tuple(adjacent_cosine(s.weight) for s in snapshots),
    )


def _similarity(snapshot: Snapshot, rows: Span) -> Float[Tensor, "row_cells row_cells"]:
    return cosine_similarity(snapshot.weight, rows, rows).cells().to(torch.float32)
