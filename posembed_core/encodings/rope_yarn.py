"""YaRN: interpolation by pair, on a ramp between two numbers of turns, and larger scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import EncodingError, RotaryEncoding, flag, integer, real
from posembed_core.frequencies import inverse_frequencies
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeYarn(RotaryEncoding):
    """ω'_m = (1 - γ_m) ω_m + γ_m ω_m / s, with γ a ramp over the pair index m from 0 to 1.

    The ramp starts at the pair that turns ``beta_fast`` times within the trained length and ends at
    the one that turns ``beta_slow`` times, both rounded outwards unless ``truncate`` is false.
    Peng et al. 2023, sections 3.2 to 3.4; transformers' ``yarn``, its upper clamp d - 1 included.
    """

    slug: ClassVar[str] = "rope-yarn"
    title: ClassVar[str] = "RoPE, YaRN"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = (
        "Peng et al. 2023, YaRN: Efficient Context Window Extension of Large Language Models "
        "(arXiv:2309.00071), sections 3.2–3.4"
    )
    formula: ClassVar[str] = (
        r"\omega'_m = (1-\gamma_m)\,\omega_m + \gamma_m\,\omega_m / s,\quad \gamma_m = "
        r"\mathrm{clip}\!\left(\frac{m - m_{\beta_f}}{m_{\beta_s} - m_{\beta_f}}, 0, 1\right),\quad"
        r" m_\beta = \frac{d \ln(L_0 / 2\pi\beta)}{2 \ln b}"
    )
    rope_types: ClassVar[tuple[str, ...]] = ("yarn",)
    required_keys: ClassVar[tuple[str, ...]] = ("factor", "original_max_position_embeddings")
    optional_keys: ClassVar[tuple[str, ...]] = (
        "beta_fast",
        "beta_slow",
        "mscale",
        "mscale_all_dim",
        "attention_factor",
        "truncate",
    )
    aliases: ClassVar[dict[str, str]] = {"attention_factor": "fixed_attention_factor"}

    factor: float = real(4.0, "Factor", low=0.1, high=1e4, log=True)
    original_max_position_embeddings: int = integer(
        4096, "Trained length", low=2, high=10**8, log=True, help="Positions seen in training, L₀"
    )
    beta_fast: float = real(
        32.0, "Turns: keep above", low=1e-3, high=1e6, log=True, help="beta_fast"
    )
    beta_slow: float = real(
        1.0, "Turns: interpolate below", low=1e-3, high=1e6, log=True, help="beta_slow"
    )
    mscale: float | None = real(None, "mscale", low=0.0, high=1e3, optional=True)
    mscale_all_dim: float | None = real(None, "mscale_all_dim", low=0.0, high=1e3, optional=True)
    fixed_attention_factor: float | None = real(
        None, "Attention factor", low=0.0, high=1e3, optional=True, help="Empty: by the factor"
    )
    truncate: bool = flag(True, "Whole pairs", help="Round the ends of the ramp outwards")

    def validate(self) -> None:
        super().validate()
        if self.base <= 1.0:
            raise EncodingError(
                f"base must be above 1, else all pairs turn alike, got {self.base:g}; try 10000",
                field="base",
                nearest=10000.0,
            )
        if self.beta_fast < self.beta_slow:
            raise EncodingError(
                f"beta_fast must not be below beta_slow, got {self.beta_fast:g} and "
                f"{self.beta_slow:g}; try beta_fast={self.beta_slow:g}",
                field="beta_fast",
                nearest=self.beta_slow,
            )

    def ramp_ends(self) -> tuple[float, float]:
        """The pair where interpolation begins and the one from which on it is in full."""
        low, high = (
            self.rotary_dim
            * math.log(self.original_max_position_embeddings / (turns * 2 * math.pi))
            / (2 * math.log(self.base))
            for turns in (self.beta_fast, self.beta_slow)
        )
        if self.truncate:
            low, high = float(math.floor(low)), float(math.ceil(high))
        return max(low, 0.0), min(high, self.rotary_dim - 1.0)

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """The blend of each pair, at any length."""
        plain = inverse_frequencies(self.rotary_dim, self.base)
        low, high = self.ramp_ends()
        width = high - low or 0.001  # a step where both ends fall on one pair
        ramp = ((torch.arange(len(plain), dtype=torch.float64) - low) / width).clamp(0.0, 1.0)
        return (1 - ramp) * plain + ramp * plain / self.factor

    def attention_factor(self, seq_len: int | None = None) -> float:
        """``0.1 ln(factor) + 1``, or the ratio of two of them, or what is given explicitly."""
        if self.fixed_attention_factor is not None:
            return self.fixed_attention_factor
        if self.mscale and self.mscale_all_dim:
            return self._temperature(self.mscale) / self._temperature(self.mscale_all_dim)
        return self._temperature(1.0)

    def _temperature(self, mscale: float) -> float:
        return 0.1 * mscale * math.log(self.factor) + 1.0 if self.factor > 1 else 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        return self.factor
