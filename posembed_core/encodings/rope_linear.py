"""Position interpolation: every frequency divided by one factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from posembed_core.base import RotaryEncoding, real
from posembed_core.frequencies import inverse_frequencies
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeLinear(RotaryEncoding):
    """Pair m turns by i ω_m / s: position s looks as position 1 did before.

    Chen et al. 2023, section 3.2; transformers' ``linear``. Scaling the positions or the
    frequencies is the same, doing both is not.
    """

    slug: ClassVar[str] = "rope-linear"
    title: ClassVar[str] = "RoPE, linear (position interpolation)"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = (
        "Chen et al. 2023, Extending Context Window of Large Language Models via Positional "
        "Interpolation (arXiv:2306.15595), section 3.2"
    )
    formula: ClassVar[str] = r"\omega'_m = \omega_m / s,\quad \omega_m = b^{-2m/d}"
    rope_types: ClassVar[tuple[str, ...]] = ("linear",)
    required_keys: ClassVar[tuple[str, ...]] = ("factor",)

    factor: float = real(
        4.0, "Factor", low=0.1, high=1e4, log=True, help="How many times longer the context gets"
    )

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """``base ** (-2m/d) / factor``, at any length."""
        return inverse_frequencies(self.rotary_dim, self.base) / self.factor

    def stretch(self, seq_len: int | None = None) -> float:
        return self.factor
