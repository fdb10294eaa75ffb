"""LongRoPE: a factor for each pair, found by search, one list for short and one for long inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import EncodingError, RotaryEncoding, integer, real, reals
from posembed_core.frequencies import inverse_frequencies
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeLongrope(RotaryEncoding):
    """ω'_m = ω_m / λ_m, with the long list for sequences longer than L_0, else the short one.

    Ding et al. 2024, section 3; Phi-3's code and transformers' ``longrope``. The length of the
    sequence chooses the list, not the model's capacity. A list that isn't given is all ones.
    """

    slug: ClassVar[str] = "rope-longrope"
    title: ClassVar[str] = "RoPE, LongRoPE"
    year: ClassVar[int] = 2024
    reference: ClassVar[str] = (
        "Ding et al. 2024, LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens "
        "(arXiv:2402.13753), section 3; Phi-3"
    )
    formula: ClassVar[str] = (
        r"\omega'_m = \omega_m / \lambda_m,\quad \lambda = \begin{cases} \lambda^{\text{long}} & "
        r"L > L_0 \\ \lambda^{\text{short}} & L \le L_0 \end{cases}"
    )
    rope_types: ClassVar[tuple[str, ...]] = ("longrope", "su")  # "su" is Phi-3's first spelling
    required_keys: ClassVar[tuple[str, ...]] = (
        "short_factor", "long_factor", "original_max_position_embeddings"
    )  # fmt: skip
    optional_keys: ClassVar[tuple[str, ...]] = ("factor", "attention_factor")
    aliases: ClassVar[dict[str, str]] = {"attention_factor": "fixed_attention_factor"}

    factor: float = real(
        32.0, "Factor", low=0.1, high=1e4, log=True, help="Sets the attention factor alone"
    )
    original_max_position_embeddings: int = integer(
        4096, "Trained length, L₀", low=2, high=10**8, log=True
    )
    short_factor: tuple[float, ...] = reals("Short factors", help="One for each pair")
    long_factor: tuple[float, ...] = reals("Long factors", help="One for each pair")
    fixed_attention_factor: float | None = real(
        None, "Attention factor", low=0.0, high=1e3, optional=True, help="Empty: by the factor"
    )

    def validate(self) -> None:
        super().validate()
        pairs = self.rotary_dim // 2
        for name in ("short_factor", "long_factor"):
            given = len(getattr(self, name))
            if given not in {0, pairs}:
                raise EncodingError(
                    f"{name} must have one number for each of the {pairs} pairs "
                    f"(rotated part {self.rotary_dim}), got {given}",
                    field=name,
                )

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """``base ** (-2m/d) / factors[m]``; the long factors if ``seq_len`` exceeds the trained."""
        plain = inverse_frequencies(self.rotary_dim, self.base)
        factors = self._factors(seq_len)
        return plain / torch.tensor(factors, dtype=torch.float64) if factors else plain

    def attention_factor(self, seq_len: int | None = None) -> float:
        """``sqrt(1 + ln(factor) / ln(L_0))`` at any length, or what is given explicitly."""
        if self.fixed_attention_factor is not None:
            return self.fixed_attention_factor
        if self.factor <= 1:
            return 1.0
        trained = self.original_max_position_embeddings
        return math.sqrt(1 + math.log(self.factor) / math.log(trained))

    def stretch(self, seq_len: int | None = None) -> float:
        return max(self._factors(seq_len), default=1.0)

    def _factors(self, seq_len: int | None) -> tuple[float, ...]:
        if seq_len is not None and seq_len > self.original_max_position_embeddings:
            return self.long_factor
        return self.short_factor
