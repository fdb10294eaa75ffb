"""Sums over the rows of a matrix, and how long the rows are."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

_PIECE = 2**16  # values, 512 kB in float64
_FEW = 2**14  # values: up to this many, working in pieces isn't worth it


def row_norms(matrix: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """The Euclidean norm of each row, float64.

    >>> row_norms(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([5., 0.], dtype=torch.float64)
    """
    if _is_plain(matrix):
        norms: Tensor = torch.linalg.vector_norm(matrix, dim=-1, dtype=torch.float64)
        return norms
    return row_products(matrix, matrix).sqrt()


def row_products(
    a: Float[Tensor, "n d"], b: Float[Tensor, "n d"], *, squared: bool = False
) -> Float[Tensor, " n"]:
    """The inner product of each row of ``a`` with that of ``b``, float64.

    ``squared``: the sum of the squared products instead, so ‖a ∘ b‖² of each row.

    A few rows at a time, whose float64 copies stay in the processor's cache and always in the same
    memory: of 8192 × 4096 values whole copies take five times as long, and so do pieces that
    need new memory from the system each time.

    >>> row_products(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([11.], dtype=torch.float64)
    """
    n, width = a.shape
    if _is_plain(a, b):
        products = a.double() * b.double()
        return (products.square() if squared else products).sum(dim=-1)
    rows = min(n, max(1, _PIECE // width))
    first, second = torch.empty(2, rows, width, dtype=torch.float64)
    sums = torch.empty(n, dtype=torch.float64)
    for x, y, out in zip(a.split(rows), b.split(rows), sums.split(rows), strict=True):
        product = first[: len(x)].copy_(x)
        product.mul_(product if a is b else second[: len(y)].copy_(y))
        torch.sum(product.square_() if squared else product, dim=-1, out=out)
    return sums


def _is_plain(*matrices: Tensor) -> bool:
    """Whether whole copies are best: for small matrices, or where a gradient is needed."""
    differentiable = torch.is_grad_enabled() and any(m.requires_grad for m in matrices)
    return differentiable or matrices[0].numel() <= _FEW
