"""Llama 3.1's scaling: short wavelengths stay, long ones are interpolated, a blend between."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from posembed_core.base import EncodingError, RotaryEncoding, integer, real
from posembed_core.frequencies import inverse_frequencies
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeLlama3(RotaryEncoding):
    """A pair that turns r = L_0 / λ_m times in training is slowed by how few turns that is.

    More than ``high_freq_factor`` turns: unchanged. Fewer than ``low_freq_factor``: divided by
    ``factor``. Between the two, a linear blend in r, which meets both at the ends. Meta's
    llama-models (``apply_scaling``); transformers' ``llama3``.
    """

    slug: ClassVar[str] = "rope-llama3"
    title: ClassVar[str] = "RoPE, Llama 3.1"
    year: ClassVar[int] = 2024
    reference: ClassVar[str] = (
        "Grattafiori et al. 2024, The Llama 3 Herd of Models (arXiv:2407.21783); "
        "meta-llama/llama-models, apply_scaling"
    )
    formula: ClassVar[str] = (
        r"\omega'_m = (1-\gamma)\,\omega_m / s + \gamma\,\omega_m,\quad \gamma = "
        r"\mathrm{clip}\!\left(\frac{L_0/\lambda_m - \alpha}{\beta - \alpha}, 0, 1\right)"
    )
    rope_types: ClassVar[tuple[str, ...]] = ("llama3",)
    required_keys: ClassVar[tuple[str, ...]] = (
        "factor",
        "original_max_position_embeddings",
        "low_freq_factor",
        "high_freq_factor",
    )

    factor: float = real(8.0, "Factor", low=0.1, high=1e4, log=True)
    original_max_position_embeddings: int = integer(
        8192, "Trained length", low=2, high=10**8, log=True, help="Positions seen in training, L₀"
    )
    low_freq_factor: float = real(
        1.0, "Turns: interpolate below", low=1e-3, high=1e4, log=True, help="α"
    )
    high_freq_factor: float = real(4.0, "Turns: keep above", low=1e-3, high=1e4, log=True, help="β")

    def validate(self) -> None:
        super().validate()
        if self.high_freq_factor < self.low_freq_factor:
            raise EncodingError(
                f"high_freq_factor must not be below low_freq_factor, got "
                f"{self.high_freq_factor:g} and {self.low_freq_factor:g}; "
                f"try high_freq_factor={4 * self.low_freq_factor:g}",
                field="high_freq_factor",
                nearest=min(4 * self.low_freq_factor, 1e4),
            )

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """The blend of each pair, at any length."""
        plain = inverse_frequencies(self.rotary_dim, self.base)
        turns = self.original_max_position_embeddings * plain / (2 * math.pi)
        width = self.high_freq_factor - self.low_freq_factor
        if width:
            keep = ((turns - self.low_freq_factor) / width).clamp(0.0, 1.0)
        else:  # a step where both are equal, as in Llama 4 Scout's config
            keep = (turns >= self.low_freq_factor).double()
        return (1 - keep) * plain / self.factor + keep * plain

    def stretch(self, seq_len: int | None = None) -> float:
        return self.factor
