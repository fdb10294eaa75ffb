"""Transformer-XL's relative positional encoding: sinusoids of distances, and two global biases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.base import (
    Positions,
    RelativeEncoding,
    as_positions,
    integer,
    real,
    relative_positions,
    seeded_normal,
)
from posembed_core.buckets import look_up
from posembed_core.frequencies import inverse_frequencies, position_angles
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class TransformerXL(RelativeEncoding):
    """s_ij = q_i·k_j + q_i·W R_(i-j) + u·k_j + v·W R_(i-j).

    Dai et al. 2019, section 3.3 and appendix B. R is the sinusoid with all sines first; it is
    asked at i - j directly, so keys after the query (negative distances) are right too, where the
    paper's shift trick is for causal attention alone. W, u and v are learned; here they are normal
    draws with deviation 1 / sqrt(head_dim), for one head.
    """

    slug: ClassVar[str] = "transformer-xl"
    title: ClassVar[str] = "Transformer-XL (at initialisation)"
    year: ClassVar[int] = 2019
    reference: ClassVar[str] = (
        "Dai et al. 2019, Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context "
        "(arXiv:1901.02860), section 3.3 and appendix B"
    )
    formula: ClassVar[str] = (
        r"s_{ij} = q_i^\top k_j + q_i^\top W R_{i-j} + u^\top k_j + v^\top W R_{i-j}"
    )

    base: float = real(10000.0, "Base", low=1.0, high=1e12, log=True)
    seed: int = integer(42, "Weight seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        return self.head_dim * (self.head_dim + 2)  # W, u and v

    def sinusoid(self, distances: Positions) -> Float[Tensor, "n head_dim"]:
        """R: sines, then cosines, of each distance; float64. An odd dimension has one more sine."""
        inv_freq = inverse_frequencies(self.head_dim, self.base)
        angles = position_angles(as_positions(distances), inv_freq)
        return torch.cat((angles.sin(), angles[:, : self.head_dim // 2].cos()), dim=-1)

    @property
    def weight(self) -> Float[Tensor, "head_dim head_dim"]:
        """W, the projection of R."""
        return seeded_normal(self.head_dim, self.head_dim, self.seed, self.head_dim**-0.5)

    @property
    def biases(self) -> Float[Tensor, "2 head_dim"]:
        """u, which every query adds for keys, and v, which every query adds for distances."""
        width = self.head_dim
        return seeded_normal(2, width, self.seed, width**-0.5, skip=width * width)

    def _projected(
        self, distances: Int[Tensor, " n"], dtype: torch.dtype
    ) -> Float[Tensor, "n head_dim"]:
        weight = self.weight.to(torch.float64).T
        # In pieces: float64 sinusoids and products take four times the memory of the result.
        return torch.cat([(self.sinusoid(d) @ weight).to(dtype) for d in distances.split(512)])

    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """(q_i + v)·W R_(i-j) + u·k_j: each distance is multiplied once, then looked up."""
        u, v = self.biases.to(q.dtype).unbind()
        every = -relative_positions(query_positions, key_positions)
        distances, rows = every.unique(return_inverse=True)
        by_distance = (q + v) @ self._projected(distances, q.dtype).T
        return look_up(by_distance, rows) + (k @ u).unsqueeze(-2)

    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """W R_(i-j) of each key j for the query at i."""
        distances = -relative_positions([query_position], key_positions)[0]
        return self._projected(distances, torch.float32)
