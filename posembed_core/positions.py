"""Positions as callers give them: whole numbers, always arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from posembed_core.parameters import EncodingError, int_or_none, shown

Positions = Tensor | np.ndarray | Sequence[int]


def as_positions(positions: Positions) -> Int[Tensor, "..."]:
    """Positions as an int64 tensor; `EncodingError` for anything but whole numbers.

    >>> as_positions(range(3))
    tensor([0, 1, 2])
    """
    if isinstance(positions, Tensor | np.ndarray):
        tensor = torch.as_tensor(positions)
        if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
            raise EncodingError(
                f"positions must be whole numbers (int64), got {tensor.dtype}", field="positions"
            )
        return tensor.to(torch.int64)
    whole = [int_or_none(item) for item in positions]
    for item, given in zip(whole, positions, strict=True):
        if item is None:
            raise EncodingError(
                f"positions must be whole numbers (int64), got {shown(given)}", field="positions"
            )
    return torch.tensor(whole, dtype=torch.int64)


def sequence_length(positions: Int[Tensor, "..."]) -> int:
    """The length of the shortest sequence that has all these positions (at least 1).

    >>> sequence_length(torch.tensor([4, 2]))
    5
    """
    return int(positions.max()) + 1 if positions.numel() else 1


def relative_positions(
    query_positions: Positions, key_positions: Positions
) -> Int[Tensor, "q_len k_len"]:
    """``key - query`` for each pair: negative where the key comes before the query.

    >>> relative_positions([1], [0, 1, 2])
    tensor([[-1,  0,  1]])
    """
    return as_positions(key_positions)[None, :] - as_positions(query_positions)[:, None]
