"""The fixed sinusoidal encoding of the original Transformer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import AdditiveEncoding, Positions, as_positions, choice, real
from posembed_core.frequencies import inverse_frequencies, write_waves
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Sinusoidal(AdditiveEncoding):
    """PE[i, 2m] = sin(i / base^(2m/d)), PE[i, 2m+1] = cos(i / base^(2m/d)).

    Vaswani et al. 2017, section 3.5. ``layout="concatenated"`` puts all sines before all cosines:
    the same columns in another order, which tensor2tensor and fairseq use too, but with exponents
    m/(d/2 - 1): their table is this one at base^(1 + 1/(d/2 - 1)). An odd dimension has one sine
    more than cosines: column k is sin for even k, else cos, of i / base^((k - k mod 2)/d).
    """

    slug: ClassVar[str] = "sinusoidal"
    title: ClassVar[str] = "Sinusoidal"
    year: ClassVar[int] = 2017
    reference: ClassVar[str] = (
        "Vaswani et al. 2017, Attention Is All You Need (arXiv:1706.03762), section 3.5"
    )
    formula: ClassVar[str] = (
        r"p_{i,2m} = \sin\!\left(i / b^{2m/d}\right),\quad"
        r"p_{i,2m+1} = \cos\!\left(i / b^{2m/d}\right)"
    )

    base: float = real(10000.0, "Base", low=1.0, high=1e12, log=True)
    layout: str = choice("interleaved", "Layout", ("interleaved", "concatenated"))

    def table(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "... embed_dim"]:
        """The encoding of each position; any integer has one. Angles in float64, then cast."""
        checked = as_positions(positions)
        pe = torch.empty(*checked.shape, self.embed_dim, dtype=dtype)
        sines, cosines = self._columns()
        write_waves(checked, self.wave_frequencies, sin=pe[..., sines], cos=pe[..., cosines])
        return pe

    @cached_property
    def wave_frequencies(self) -> Float[Tensor, " pairs"]:
        """Radians per position of each pair of sine and cosine, float64."""
        return inverse_frequencies(self.embed_dim, self.base)

    def _columns(self) -> tuple[slice, slice]:
        # [s0 c0 s1 c1 …], or [s0 s1 … | c0 c1 …]
        if self.layout == "interleaved":
            return slice(0, None, 2), slice(1, None, 2)
        half = (self.embed_dim + 1) // 2
        return slice(0, half), slice(half, None)
