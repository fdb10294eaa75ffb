"""Door 1: a vector for each position joins the token at the input."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.encoding import MAX_DIM, WHOLE, Encoding, Excerpt
from posembed_core.operations import Combined, Operation, join
from posembed_core.parameters import EncodingError, integer
from posembed_core.positions import Positions, as_positions


@dataclass(frozen=True, kw_only=True)
class AdditiveEncoding(Encoding):
    """Door 1, the input: a vector for each position is added to the token's vector.

    >>> import posembed_core as pc
    >>> pc.create("sinusoidal", embed_dim=2).table([0, 1])
    tensor([[0.0000, 1.0000],
            [0.8415, 0.5403]])
    """

    door: ClassVar[str] = "input"
    embed_dim: int = integer(64, "Dimension", low=2, high=MAX_DIM, role="dimension")

    @abstractmethod
    def table(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "... embed_dim"]:
        """The vector of each position: ``positions.shape + (embed_dim,)``.

        Raises `EncodingError` for a position that has no vector.
        """

    @property
    def position_count(self) -> int | None:
        """How many positions, from 0 on, have a vector; None where every integer has one."""
        return None

    @property
    def vector_width(self) -> int:
        return self.embed_dim

    def contribute(
        self,
        token: Float[Tensor, "n d"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H = e + s·p, e ∘ s·p or [e; s·p]; the vectors are the rows p."""
        p = excerpt.vectors
        # A table that nobody else holds is freed before h needs memory.
        moved = scale * (self.table(positions, token.dtype) if p is None else p)
        return Combined(token, moved, join(token, moved, operation), moved)

    def check_positions(self, positions: Positions) -> Int[Tensor, "..."]:
        """Positions as int64; `EncodingError`, with position and size, for one without a row."""
        checked, count = as_positions(positions), self.position_count
        outside = checked[(checked < 0) | (checked >= count)] if count is not None else checked[:0]
        if count is not None and outside.numel():
            raise EncodingError(
                f"position {int(outside[0])} has no row in a table of {count} rows: positions go "
                f"from 0 to {count - 1}; use a longer table, interpolate it, or use a formula",
                field="positions",
                nearest=min(max(int(outside[0]), 0), count - 1),
            )
        return checked

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
        """``(q + scale P[i]) · (k + scale P[j])``: the sum at the input, with identity projections.

        With real projections the vectors are added before projecting (see `attention.layer`).
        """
        queries = q + scale * self.table(query_positions, q.dtype)
        keys = k + scale * self.table(key_positions, k.dtype)
        return softmax_scale * (queries @ keys.mT)
