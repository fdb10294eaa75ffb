"""Door 2: a number for each pair of positions is added to the scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.encoding import WHOLE, Encoding, Excerpt
from posembed_core.operations import Combined, Operation
from posembed_core.parameters import integer
from posembed_core.positions import Positions


@dataclass(frozen=True, kw_only=True)
class BiasEncoding(Encoding):
    """Door 2, the scores: a number for each pair of positions is added before softmax.

    >>> import posembed_core as pc
    >>> pc.create("alibi", num_heads=8).bias([2], [0, 1, 2])[0]  # slope 1/2
    tensor([[-1.0000, -0.5000,  0.0000]])
    """

    door: ClassVar[str] = "scores"
    acts_inside: ClassVar[bool] = True
    num_heads: int = integer(8, "Heads", low=1, high=256)

    @property
    def half_lives(self) -> Float[Tensor, " num_heads"] | None:
        """The distance in tokens at which each head halves a weight; None without a formula."""
        return None

    @abstractmethod
    def bias(
        self,
        query_positions: Positions,
        key_positions: Positions,
        *,
        heads: slice = slice(None),
    ) -> Float[Tensor, "heads q_len k_len"]:
        """What is added to the scores of each head (or of those in ``heads``), float32."""

    def contribute(
        self,
        token: Float[Tensor, "n d"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H = e; the vectors are the bias, empty if ``excerpt.heads`` is."""
        b = excerpt.vectors
        if b is None:
            b = self.bias(positions, positions, heads=excerpt.heads).to(token.dtype)
        return Combined(token, scale * b, token, torch.zeros_like(token))

    def scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
        *,
        scale: float = 1.0,
        softmax_scale: float = 1.0,
    ) -> Float[Tensor, "... q_len k_len"]:
        """``softmax_scale * q · k + scale * bias``; the axis before the last two is the head."""
        bias = self.bias(query_positions, key_positions).to(q.dtype)
        return softmax_scale * (q @ k.mT) + scale * bias
