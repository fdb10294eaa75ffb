"""Dynamic NTK: the base grows with the length of the sequence, once it exceeds the trained one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from posembed_core.base import RotaryEncoding, integer, real
from posembed_core.frequencies import inverse_frequencies, ntk_base
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class RopeDynamic(RotaryEncoding):
    """NTK-aware scaling by s(L) = f L / L_0 - (f - 1) where L exceeds L_0, else plain RoPE.

    emozilla 2023; Peng et al. 2023, section 3.3; transformers' ``dynamic``, whose module keeps the
    greatest length seen so far. Here the frequencies depend on the length given and nothing else.
    """

    slug: ClassVar[str] = "rope-dynamic"
    title: ClassVar[str] = "RoPE, dynamic NTK"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = (
        "emozilla 2023, Dynamically Scaled RoPE; Peng et al. 2023 (arXiv:2309.00071), section 3.3"
    )
    formula: ClassVar[str] = (
        r"\omega'_m = {b'}^{-2m/d},\quad b' = b \, s(L)^{d/(d-2)},\quad "
        r"s(L) = \max\!\left(1,\, f L / L_0 - (f - 1)\right)"
    )
    rope_types: ClassVar[tuple[str, ...]] = ("dynamic",)
    required_keys: ClassVar[tuple[str, ...]] = ("factor",)

    factor: float = real(4.0, "Factor", low=0.1, high=1e4, log=True)
    original_max_position_embeddings: int = integer(
        2048, "Trained length", low=2, high=10**8, log=True, help="Positions seen in training, L₀"
    )

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """Those of plain RoPE up to the trained length, of a larger base for longer sequences."""
        dim = self.rotary_dim
        return inverse_frequencies(dim, ntk_base(self.base, self.stretch(seq_len), dim))

    def stretch(self, seq_len: int | None = None) -> float:
        trained = self.original_max_position_embeddings
        if seq_len is None or seq_len <= trained:
            return 1.0
        return self.factor * seq_len / trained - (self.factor - 1)
