"""Seeded random matrices, with the numbers of NumPy's legacy generator."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def seeded_normal(
    rows: int, columns: int, seed: int, std: float = 1.0, skip: int = 0
) -> Float[Tensor, "rows columns"]:
    """``numpy.random.RandomState(seed).randn(rows, columns) * std``, float32, as the handbook does.

    ``skip`` draws are thrown away first. A row's numbers stay the same, however many rows are asked
    for. Drawn in pieces, so that a large matrix is never in memory as float64 as a whole.

    >>> seeded_normal(1, 3, seed=42)
    tensor([[ 0.4967, -0.1383,  0.6477]])
    """
    generator = np.random.RandomState(seed)
    generator.randn(skip)
    matrix = torch.empty(rows, columns)
    step = max(1, 2**20 // columns)
    for start in range(0, rows, step):
        piece = matrix[start : start + step]
        piece.copy_(torch.from_numpy(generator.randn(*piece.shape) * std))
    return matrix


def seeded_uniform(
    rows: int, columns: int, seed: int, low: float = 0.0, high: float = 1.0, skip: int = 0
) -> Float[Tensor, "rows columns"]:
    """``low + (high - low) * numpy.random.RandomState(seed).rand(rows, columns)``, float32.

    ``skip`` draws are thrown away first.

    >>> seeded_uniform(1, 3, seed=42)
    tensor([[0.3745, 0.9507, 0.7320]])
    """
    generator = np.random.RandomState(seed)
    generator.rand(skip)
    matrix = low + (high - low) * generator.rand(rows, columns)
    return torch.from_numpy(matrix).to(torch.float32)
