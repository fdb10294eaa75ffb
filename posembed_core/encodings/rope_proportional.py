"""Proportional RoPE: the fastest pairs of the whole head turn, the others stand still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import RotaryEncoding, real
from posembed_core.frequencies import inverse_frequencies
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeProportional(RotaryEncoding):
    """ω'_m = ω_m / s for the first p of the d/2 pairs, and 0 for the rest.

    Unlike partial rotary, which takes the frequencies of a narrower head: here they are those of
    the whole head, so the slow ones are left out. Gemma 4's layers with full attention;
    transformers 5.24's ``proportional``.
    """

    slug: ClassVar[str] = "rope-proportional"
    title: ClassVar[str] = "RoPE, proportional"
    year: ClassVar[int] = 2026
    reference: ClassVar[str] = (
        "Gemma 4 (Google DeepMind 2026); transformers 5.24, _compute_proportional_rope_parameters"
    )
    formula: ClassVar[str] = (
        r"\omega'_m = \begin{cases} b^{-2m/d} / s & m < \lfloor p\,d/2 \rfloor \\ 0 & "
        r"\text{else} \end{cases}"
    )
    rope_types: ClassVar[tuple[str, ...]] = ("proportional",)
    optional_keys: ClassVar[tuple[str, ...]] = ("factor", "partial_rotary_factor")
    aliases: ClassVar[dict[str, str]] = {"partial_rotary_factor": "turning_fraction"}

    factor: float = real(1.0, "Factor", low=0.1, high=1e4, log=True)
    turning_fraction: float = real(
        0.25, "Turning part", low=0.0, high=1.0, help="The share of the pairs that turns, p"
    )

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """``base ** (-2m/d) / factor`` for the pairs that turn, 0 for the rest, at any length."""
        plain = inverse_frequencies(self.rotary_dim, self.base) / self.factor
        turning = int(self.turning_fraction * self.rotary_dim // 2)
        return torch.where(torch.arange(len(plain)) < turning, plain, 0.0)

    def stretch(self, seq_len: int | None = None) -> float:
        return self.factor
