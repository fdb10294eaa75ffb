"""NTK-aware scaling: a larger base, so that fast pairs stay and slow pairs are interpolated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from posembed_core.base import RotaryEncoding, real
from posembed_core.frequencies import inverse_frequencies, ntk_base
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeNtk(RotaryEncoding):
    """RoPE with the base b s^(d/(d-2)): the first pair is as before, the last one s times slower.

    bloc97 2023; Peng et al. 2023, section 3.1; ExLlama's ``alpha``. The last frequency is exactly
    the one of linear interpolation by s. A single pair (d = 2) is the first one, so it stays.
    """

    slug: ClassVar[str] = "rope-ntk"
    title: ClassVar[str] = "RoPE, NTK-aware"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = (
        "bloc97 2023, NTK-Aware Scaled RoPE; Peng et al. 2023 (arXiv:2309.00071), section 3.1"
    )
    formula: ClassVar[str] = r"\omega'_m = {b'}^{-2m/d},\quad b' = b \, s^{d/(d-2)}"

    rope_types: ClassVar[tuple[str, ...]] = ("ntk",)
    required_keys: ClassVar[tuple[str, ...]] = ("factor",)

    factor: float = real(
        4.0, "Factor", low=0.1, high=1e4, log=True, help="How many times slower the last pair gets"
    )

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """``(base * factor ** (d/(d-2))) ** (-2m/d)``, at any length."""
        dim = self.rotary_dim
        return inverse_frequencies(dim, ntk_base(self.base, self.factor, dim))

    def stretch(self, seq_len: int | None = None) -> float:
        return self.factor
