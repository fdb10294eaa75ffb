"""YaRN: interpolation by pair, on a ramp between two numbers of turns, and larger scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import EncodingError, RotaryEncoding, flag, integer, real
from posembed_core.frequencies import inverse_frequencies, pair_of_turns
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeYarn(RotaryEncoding):
    """ω'_m = (1 - γ_m) ω_m + γ_m ω_m / s, with γ a ramp over the pair index m from 0 to 1.

    From the pair that turns ``beta_fast`` times within the trained length to the one that turns
    ``beta_slow`` times. Peng et al. 2023, sections 3.2 to 3.4; transformers' ``yarn``, clamp d - 1.
    """

    slug: ClassVar[str] = "rope-yarn"
    title: ClassVar[str] = "RoPE, YaRN"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = "Peng et al. 2023, YaRN (arXiv:2309.00071), sections 3.2–3.4"
    formula: ClassVar[str] = (
        r"\omega'_m = (1-\gamma_m)\,\omega_m + \gamma_m\,\omega_m / s,\quad \gamma_m = "
        r"\mathrm{clip}\!\left(\frac{m - m_{\beta_f}}{m_{\beta_s} - m_{\beta_f}}, 0, 1\right)"
    )
    rope_types: ClassVar[tuple[str, ...]] = ("yarn",)
    required_keys: ClassVar[tuple[str, ...]] = ("factor", "original_max_position_embeddings")
    optional_keys: ClassVar[tuple[str, ...]] = (
        "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "attention_factor", "truncate"
    )  # fmt: skip
    aliases: ClassVar[dict[str, str]] = {"attention_factor": "fixed_attention_factor"}

    # At base 1 all pairs turn alike, and none of them turns beta times.
    base: float = real(10000.0, "Base", low=1.001, high=1e12, log=True)
    factor: float = real(4.0, "Factor", low=0.1, high=1e4, log=True)
    original_max_position_embeddings: int = integer(
        4096, "Trained length, L₀", low=2, high=10**8, log=True
    )
    beta_fast: float = real(32.0, "beta_fast: keep above, turns", low=1e-3, high=1e6, log=True)
    beta_slow: float = real(1.0, "beta_slow: interpolate below", low=1e-3, high=1e6, log=True)
    mscale: float | None = real(None, "mscale", low=0.0, high=1e3, optional=True)
    mscale_all_dim: float | None = real(None, "mscale_all_dim", low=0.0, high=1e3, optional=True)
    fixed_attention_factor: float | None = real(
        None, "Attention factor", low=0.0, high=1e3, optional=True, help="Empty: by the factor"
    )
    truncate: bool = flag(True, "Whole pairs", help="Round the ends of the ramp outwards")

    def validate(self) -> None:
        super().validate()
        if (slow := self.beta_slow) > self.beta_fast:
            text = f"beta_fast must not be below beta_slow, got {self.beta_fast:g} and {slow:g}"
            raise EncodingError(f"{text}; try beta_fast={slow:g}", field="beta_fast", nearest=slow)

    def ramp_ends(self) -> tuple[float, float]:
        """The pair where interpolation begins and the one from which it is complete."""
        d, length = self.rotary_dim, self.original_max_position_embeddings
        turns = (self.beta_fast, self.beta_slow)
        low, high = (pair_of_turns(d, self.base, length, number) for number in turns)
        low, high = (math.floor(low), math.ceil(high)) if self.truncate else (low, high)
        return float(max(low, 0)), float(min(high, d - 1))

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """The blend of each pair, at any length."""
        plain = inverse_frequencies(self.rotary_dim, self.base)
        low, high = self.ramp_ends()
        width = high - low or 0.001  # a step where both ends fall on one pair
        ramp = ((torch.arange(len(plain)).double() - low) / width).clamp(0.0, 1.0)
        return (1 - ramp) * plain + ramp * plain / self.factor

    def attention_factor(self, seq_len: int | None = None) -> float:
        """``0.1 ln(factor) + 1``, or the ratio of two of them, or what is given explicitly."""
        if self.fixed_attention_factor is not None:
            return self.fixed_attention_factor
        above, below = 1.0, 0.0
        if self.mscale and self.mscale_all_dim:
            above, below = self.mscale, self.mscale_all_dim
        growth = 0.1 * math.log(max(self.factor, 1.0))
        return (growth * above + 1.0) / (growth * below + 1.0)

    def stretch(self, seq_len: int | None = None) -> float:
        return self.factor
