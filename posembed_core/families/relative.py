"""Door 3, added: vectors for relative positions join query or key."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.encoding import MAX_DIM, WHOLE, Encoding, Excerpt
from posembed_core.operations import Combined, Operation
from posembed_core.parameters import integer
from posembed_core.positions import Positions


@dataclass(frozen=True, kw_only=True)
class RelativeEncoding(Encoding):
    """Door 3, the projections, added: vectors for relative positions join query or key.

    >>> import posembed_core as pc
    >>> import torch
    >>> shaw = pc.create("shaw", head_dim=4)
    >>> q, k = torch.ones(2, 4), torch.ones(3, 4)
    >>> shaw.relative_scores(q, k, [0, 1], [0, 1, 2]).shape
    torch.Size([2, 3])
    """

    door: ClassVar[str] = "projections"
    acts_inside: ClassVar[bool] = True
    # Whether softmax_scale also multiplies what position adds.
    scaled: ClassVar[bool] = True
    head_dim: int = integer(64, "Dimension", low=2, high=MAX_DIM, role="dimension")

    @abstractmethod
    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """What position adds to the product of each query and key, before ``softmax_scale``."""

    @abstractmethod
    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """The relative vector of each key as the query at ``query_position`` sees it, float32."""

    @property
    def vector_width(self) -> int:
        return self.head_dim

    def contribute(
        self,
        token: Float[Tensor, "n head_dim"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H = e; the vectors are those of each position relative to the excerpt's query."""
        a = excerpt.vectors
        if a is None:
            a = self.vectors(excerpt.query, positions).to(token.dtype)
        return Combined(token, scale * a, token, torch.zeros_like(token))

    def relative_values(
        self,
        weights: Float[Tensor, "... q_len k_len"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len head_dim"]:
        """What position adds to the weighted sum of the values: nothing in most encodings."""
        return weights.new_zeros(*weights.shape[:-1], self.head_dim)

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
        """``softmax_scale * (q · k + scale * relative_scores)``, or only q · k is multiplied."""
        relative = scale * self.relative_scores(q, k, query_positions, key_positions)
        return softmax_scale * (q @ k.mT) + (softmax_scale if self.scaled else 1.0) * relative
