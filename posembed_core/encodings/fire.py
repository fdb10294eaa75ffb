"""FIRE: a small network reads how far back a key is, relative to where the query stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    BiasEncoding,
    Positions,
    as_positions,
    integer,
    real,
    relative_positions,
    seeded_uniform,
)
from posembed_core.registry import register

# The hidden layer of a piece with this many pairs fits the cache, which is faster than memory.
_PIECE = 2**16


@register
@dataclass(frozen=True, kw_only=True)
class Fire(BiasEncoding):
    """b_ij = f(ψ(i - j) / ψ(max(L, i))) with ψ(x) = ln(c x + 1), f a network with one hidden layer.

    Li et al. 2023, section 3 and the code in their appendix (1e-6 added to the denominator, a ReLU
    layer of ``mlp_width`` units). It takes |i - j|, so keys after the query have a value too; a
    decoder masks them. c, L and f are learned; here c and L are fields, and f is as torch
    initialises linear layers (uniform within ±1 / sqrt(inputs)), with a seed.
    """

    slug: ClassVar[str] = "fire"
    title: ClassVar[str] = "FIRE (at initialisation)"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = "Li et al. 2023, FIRE (arXiv:2310.04418), section 3 and appendix"
    formula: ClassVar[str] = (
        r"b_{ij} = f_\theta\!\left(\frac{\psi(i-j)}{\psi(\max(L, i))}\right),\quad"
        r"\psi(x) = \ln(c\,x + 1)"
    )
    beyond: ClassVar[str] = "distances are divided by the query's position: always 0 to 1"

    c: float = real(0.1, "c", low=1e-4, high=1e4, log=True)
    threshold: float = real(512.0, "Threshold L", low=1.0, high=1e6, log=True)
    mlp_width: int = integer(32, "Hidden units", low=1, high=256)
    seed: int = integer(42, "Network seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        # c, L, and both layers with their biases
        return 2 + 2 * self.mlp_width + (self.mlp_width + 1) * self.num_heads

    def normalised_distances(
        self, query_positions: Positions, key_positions: Positions
    ) -> Float[Tensor, "q_len k_len"]:
        """ψ(|i - j|) / ψ(max(L, i)), 0 at the query itself; float64."""
        distances = relative_positions(query_positions, key_positions).abs().to(torch.float64)
        longest = as_positions(query_positions).to(torch.float64).clamp(min=self.threshold)
        normaliser = (self.c * longest).log1p() + 1e-6
        return (self.c * distances).log1p_().div_(normaliser.unsqueeze(-1))

    def bias(
        self,
        query_positions: Positions,
        key_positions: Positions,
        *,
        heads: slice = slice(None),
    ) -> Float[Tensor, "heads q_len k_len"]:
        """The network's number for each normalised distance."""
        distances = self.normalised_distances(query_positions, key_positions).to(torch.float32)
        return self._network(distances, heads)

    def _network(
        self, x: Float[Tensor, "q_len k_len"], heads: slice
    ) -> Float[Tensor, "heads q_len k_len"]:
        """The function f: a hidden layer of ReLU units, then a number for each head."""
        (first_weight, first_bias), second = self._layers()
        second_weight, second_bias = second[:-1, heads], second[-1, heads]
        out = torch.empty(second_bias.numel(), x.numel())
        for start in range(0, x.numel(), _PIECE):
            piece = x.flatten()[start : start + _PIECE, None]
            hidden = (piece * first_weight + first_bias).relu_()
            out[:, start : start + _PIECE] = (hidden @ second_weight + second_bias).T
        return out.reshape(-1, *x.shape)

    def _layers(
        self,
    ) -> tuple[Float[Tensor, "2 mlp_width"], Float[Tensor, "mlp_width+1 num_heads"]]:
        """Weights over biases: one input, and mlp_width inputs."""
        width, bound = self.mlp_width, self.mlp_width**-0.5
        first = seeded_uniform(2, width, self.seed, -1.0, 1.0)
        drawn = first.numel()
        return first, seeded_uniform(width + 1, self.num_heads, self.seed, -bound, bound, drawn)
