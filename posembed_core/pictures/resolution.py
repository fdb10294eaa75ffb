"""A window of a matrix of any size as a picture: pooled to so many cells, each an honest mean."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

MAX_ROWS = 512  # cells of a picture along the positions
MAX_COLUMNS = 256  # and along the channels


@dataclass(frozen=True)
class Span:
    """The indices ``start … stop - 1`` of one axis, ``step`` of them in a cell."""

    start: int
    stop: int
    step: int = 1

    @property
    def cells(self) -> int:
        """How many cells there are; the last one may stand for fewer than ``step`` values."""
        return -(-(self.stop - self.start) // self.step)

    def index(self, at: float) -> int:
        """The first matrix index of the cell that covers the coordinate ``at``."""
        inside = min(max(int(at + 0.5), self.start), self.stop - 1)
        return self.start + (inside - self.start) // self.step * self.step

    def centres(self) -> Float[Tensor, " cells"]:
        """The mean index of the values behind each cell, float64: where the cell is drawn."""
        first = torch.arange(self.start, self.stop, self.step, dtype=torch.float64)
        last = (first + self.step).clamp(max=self.stop) - 1
        return (first + last) / 2


def span(size: int, most: int, low: float | None = None, high: float | None = None) -> Span:
    """The whole axis of ``size`` indices, or what lies in the window ``low … high`` of it.

    The step is the smallest that needs no more than ``most`` cells. A window is widened to whole
    cells, so that a cell never shows a part of what it is the mean of; an empty one gives the
    nearest single index. Its ends may come in any order, as those of an axis that runs downwards.

    >>> span(1000, most=256)
    Span(start=0, stop=1000, step=4)
    >>> span(1000, most=256, low=30.2, high=10.0)
    Span(start=10, stop=31, step=1)
    """
    first, last = 0, size - 1
    if low is not None and high is not None:
        first = min(max(int(min(low, high) + 0.5), 0), size - 1)
        last = min(max(int(max(low, high) + 0.5), first), size - 1)
    step = -(-(last - first + 1) // most)
    cells = -(-(last - first + 1) // step)
    return Span(first, min(first + cells * step, size), step)


def pool(
    matrix: Float[Tensor, "rows columns"], rows: Span, columns: Span
) -> Float[Tensor, "row_cells column_cells"]:
    """The mean of the values behind each cell of the window; the values themselves at step 1.

    >>> pool(torch.arange(8.0).reshape(2, 4), Span(0, 2, 2), Span(0, 4, 2))
    tensor([[2.5000, 4.5000]])
    """
    window = matrix[rows.start : rows.stop, columns.start : columns.stop]
    if rows.step == columns.step == 1:
        return window
    pooled = functional.avg_pool2d(
        window[None],
        (rows.step, columns.step),
        ceil_mode=True,
        count_include_pad=False,
    )
    return pooled[0]


def pool_rows(curve: Float[Tensor, " rows"], rows: Span) -> Float[Tensor, " row_cells"]:
    """The mean of a curve's values behind each cell along the rows.

    >>> pool_rows(torch.tensor([1.0, 3.0, 5.0]), Span(0, 3, 2))
    tensor([2., 5.])
    """
    return pool(curve[:, None], rows, Span(0, 1))[:, 0]
