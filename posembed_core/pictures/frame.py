"""What a picture shows at one scale: cells, how they are mixed, norms, and where colours end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.operations import Norms

Cells = Float[Tensor, "row_cells column_cells"]


@dataclass(frozen=True, eq=False)
class Frame:
    """What one picture shows at one scale.

    ``arrays`` are cells (positions × dimensions, float32) and ``mixes`` says how each picture is
    made of them: picture = Σ coefficient · array. ``norms`` are those of the positions shown, of
    whole vectors, float64. ``peak`` is where a colour scale for the three pictures may end: the
    greatest absolute value, or 2.2 root mean squares of the picture where that is less, so that a
    few outliers don't fade all others (3 % of normally distributed values lie beyond).
    """

    arrays: dict[str, Cells]
    mixes: dict[str, dict[str, float]]
    norms: Norms
    peak: float

    def cells(self, picture: str) -> Cells:
        """The cells of ``"token"``, ``"position"`` or ``"combined"``."""
        (first, factor), *more = self.mixes[picture].items()
        total = factor * self.arrays[first]
        for name, factor in more:
            total.add_(self.arrays[name], alpha=factor)
        return total


def peak_of(cells: Cells) -> float:
    """Where a colour scale for these cells may end; see `Frame`.

    >>> peak_of(torch.tensor([[0.5, -2.0]]))
    2.0
    """
    rms = float(torch.linalg.vector_norm(cells)) / math.sqrt(cells.numel())
    least, greatest = map(float, cells.aminmax())
    return min(max(-least, greatest), 2.2 * rms)
