"""How long the rows of a matrix are."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

_PIECE = 2**16  # values, 512 kB in float64


def row_norms(matrix: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """The Euclidean norm of each row, float64.

    A few rows at a time, whose float64 copy stays in the processor's cache and always in the same
    memory: of 8192 × 4096 values a whole copy takes five times as long, and so do pieces for which
    the system has to find new memory each.
    """
    n, width = matrix.shape
    differentiable = matrix.requires_grad and torch.is_grad_enabled()
    if differentiable or matrix.numel() <= _PIECE // 4:
        whole: Tensor = torch.linalg.vector_norm(matrix, dim=-1, dtype=torch.float64)
        return whole
    rows = min(n, max(1, _PIECE // width))
    exact = torch.empty(rows, width, dtype=torch.float64)
    norms = torch.empty(n, dtype=torch.float64)
    for piece, out in zip(matrix.split(rows), norms.split(rows), strict=True):
        torch.linalg.vector_norm(exact[: len(piece)].copy_(piece), dim=-1, out=out)
    return norms
