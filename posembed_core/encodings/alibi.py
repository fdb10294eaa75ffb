"""Attention with linear biases (ALiBi)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import BiasEncoding, Positions, real, relative_positions
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Alibi(BiasEncoding):
    """b_ij = -m_h |i - j|, where head h of n has the slope m_h = 2^(-8 (h + 1) / n).

    Press et al. 2022, section 3. A head count n that is no power of two takes the slopes of the
    power of two below it, then every other slope of the power of two above (the authors' released
    ``get_slopes``). The bias is symmetric; a decoder's mask is separate. ``alibi_bias_max`` is the
    8 of the formula (MPT's name for it). Every head's attention to a token halves with each
    ln 2 / m_h tokens of distance.
    """

    slug: ClassVar[str] = "alibi"
    title: ClassVar[str] = "ALiBi"
    year: ClassVar[int] = 2021
    reference: ClassVar[str] = (
        "Press et al. 2021, Train Short, Test Long: Attention with Linear Biases Enables Input "
        "Length Extrapolation (arXiv:2108.12409), section 3"
    )
    formula: ClassVar[str] = r"b_{ij} = -m_h\,|i - j|,\quad m_h = 2^{-8(h+1)/n}"
    beyond: ClassVar[str] = "a new distance continues the same straight line"

    alibi_bias_max: float = real(
        8.0, "Steepness range", low=1.0, high=64.0, help="The last slope is 2 to the minus this"
    )

    @property
    def slopes(self) -> Float[Tensor, " num_heads"]:
        """The slope of each head, per token of distance, float64."""
        below = 2 ** int(math.log2(self.num_heads))
        slopes = self._geometric(below) + self._geometric(2 * below)[0::2]
        return torch.tensor(slopes[: self.num_heads], dtype=torch.float64)

    def _geometric(self, heads: int) -> list[float]:
        return [2.0 ** (-self.alibi_bias_max * (head + 1) / heads) for head in range(heads)]

    def bias(
        self,
        query_positions: Positions,
        key_positions: Positions,
        *,
        heads: slice = slice(None),
    ) -> Float[Tensor, "heads q_len k_len"]:
        """Zero on the diagonal, falling by the slope with each token of distance."""
        distances = relative_positions(query_positions, key_positions).abs()
        return self.slopes[heads, None, None].to(torch.float32) * -distances
