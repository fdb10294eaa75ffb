"""A window of a matrix of any size as a picture: of each block of values one is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

MAX_ROWS = 512  # cells of a picture along the positions
MAX_COLUMNS = 256  # and along the dimensions


@dataclass(frozen=True)
class Span:
    """The indices ``start … stop - 1`` of one axis, ``step`` of them to a cell.

    A cell shows one of its indices (`indices`): which one depends on the block's first index and
    the step alone, by a fixed hash, so all pictures choose alike, on any machine. A regular choice
    would turn fast waves into slow ones that aren't there (moiré), a mean would turn them into a
    grey that no value has; a random one in each block shows them as the noise that they are at
    this distance (Cook 1986, Stochastic sampling in computer graphics).

    ``dimensions`` is 0 for positions. Where the indices are dimensions it is the matrix's width:
    then cells alternate between even and odd dimensions, as the matrix does, and every two cells
    show one pair (2j, 2j + 1) of their double block. Blocks of the second half of the matrix choose
    as those of the first, so that pairs (j, j + dimensions/2) stay together too wherever whole
    double blocks fit into a half.
    """

    start: int
    stop: int
    step: int = 1
    dimensions: int = 0

    @property
    def cells(self) -> int:
        """How many cells there are; the last one may stand for fewer than ``step`` values."""
        return -(-(self.stop - self.start) // self.step)

    @property
    def indices(self) -> tuple[int, ...]:
        """The matrix index that each cell shows, in increasing order."""
        return _indices(self)

    def index(self, at: float) -> int:
        """The matrix index shown by the cell that covers the coordinate ``at``."""
        inside = min(max(int(at + 0.5), self.start), self.stop - 1)
        return self.indices[(inside - self.start) // self.step]

    def centres(self) -> Float[Tensor, " cells"]:
        """The mean index of the values behind each cell, float64: where the cell is drawn."""
        first = torch.arange(self.start, self.stop, self.step, dtype=torch.float64)
        last = (first + self.step).clamp(max=self.stop) - 1
        return (first + last) / 2


@lru_cache(maxsize=256)
def _indices(span: Span) -> tuple[int, ...]:
    if span.step == 1:
        return tuple(range(span.start, span.stop))
    if span.dimensions:
        return tuple(_chosen_dimensions(span))
    firsts = range(span.start, span.stop, span.step)
    return tuple(first + _hash(first) % min(span.step, span.stop - first) for first in firsts)


def _chosen_dimensions(span: Span) -> list[int]:
    block, half = 2 * span.step, span.dimensions // 2
    # With a half of odd length pairs (2j, 2j + 1) would straddle it.
    period = half if half and half % block == 0 else span.dimensions
    chosen = []
    for first in range(span.start, span.stop, block):
        size = min(block, span.stop - first)
        is_one_cell = size <= span.step
        pairs = -(-size // 2) if is_one_cell else size // 2
        even = first + 2 * (_hash(first % period) % pairs)
        chosen += [even] if is_one_cell else [even, even + 1]
    return chosen


def _hash(first: int) -> int:
    """32 bits of a block's first index (the finaliser of MurmurHash3); 0 of 0.

    So the first cell shows position 0 and dimension 0, by which one knows a matrix.
    """
    bits = first
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = ((bits ^ (bits >> shift)) * factor) & 0xFFFFFFFF
    return bits ^ (bits >> 16)


def span(
    size: int,
    most: int,
    low: float | None = None,
    high: float | None = None,
    *,
    of_dimensions: bool = False,
) -> Span:
    """The whole axis of ``size`` indices, or what lies in the window ``low … high`` of it.

    The step is the smallest that needs no more than ``most`` cells. A window is widened to whole
    cells, so that it never chooses from a part of a block, and begins at an even dimension where
    cells show pairs; an empty one gives the nearest single index. Its ends may come in any order,
    as those of an axis that runs downwards.

    >>> span(1000, most=256)
    Span(start=0, stop=1000, step=4, dimensions=0)
    >>> span(1000, most=256, low=30.2, high=10.0)
    Span(start=10, stop=31, step=1, dimensions=0)
    """
    first, last = 0, size - 1
    if low is not None and high is not None:
        first = min(max(int(min(low, high) + 0.5), 0), size - 1)
        last = min(max(int(max(low, high) + 0.5), first), size - 1)
    step = -(-(last - first + 1) // most)
    if of_dimensions and step > 1:
        first -= first % 2
        step = -(-(last - first + 1) // most)
    cells = -(-(last - first + 1) // step)
    return Span(first, min(first + cells * step, size), step, size if of_dimensions else 0)


def choose(
    matrix: Float[Tensor, "rows columns"], rows: Span, columns: Span
) -> Float[Tensor, "row_cells column_cells"]:
    """The value that each cell of the window shows: a view where each cell is the only value.

    >>> choose(torch.arange(8.0).reshape(2, 4), Span(0, 2, 2), Span(0, 4, 2, dimensions=4))
    tensor([[0., 1.]])
    """
    return choose_columns(choose_rows(matrix, rows), columns)


def choose_rows(matrix: Float[Tensor, "rows ..."], rows: Span) -> Float[Tensor, "row_cells ..."]:
    """The rows that are shown, whole; a view where all are.

    >>> choose_rows(torch.tensor([1.0, 3.0, 5.0]), Span(0, 3, 2))
    tensor([1., 5.])
    """
    if rows.step == 1:
        return matrix[rows.start : rows.stop]
    return matrix[as_tensor(rows)]


def choose_columns(
    matrix: Float[Tensor, "rows columns"], columns: Span
) -> Float[Tensor, "rows column_cells"]:
    """The columns that are shown, whole; a view where all are.

    >>> choose_columns(torch.tensor([[1.0, 3.0, 5.0]]), Span(1, 3))
    tensor([[3., 5.]])
    """
    if columns.step == 1:
        return matrix[:, columns.start : columns.stop]
    return matrix[:, as_tensor(columns)]


def as_tensor(span: Span) -> Int[Tensor, " cells"]:
    """The indices shown, int64.

    >>> as_tensor(Span(2, 5))
    tensor([2, 3, 4])
    """
    return torch.tensor(span.indices)


def mean_cells(
    matrix: Float[Tensor, "rows columns"], rows: Span, columns: Span
) -> Float[Tensor, "row_cells column_cells"]:
    """The mean of the values behind each cell, for spectra: a choice would miss their lines.

    >>> mean_cells(torch.arange(8.0).reshape(2, 4), Span(0, 2, 2), Span(0, 4, 2))
    tensor([[2.5000, 4.5000]])
    """
    window = matrix[rows.start : rows.stop, columns.start : columns.stop]
    if rows.step == columns.step == 1:
        return window
    pooled = functional.avg_pool2d(
        window[None], (rows.step, columns.step), ceil_mode=True, count_include_pad=False
    )
    return pooled[0]
