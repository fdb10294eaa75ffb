"""KERPLE: the score falls with a kernel of the distance, whose shape each head learns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    BiasEncoding,
    EncodingError,
    Positions,
    choice,
    integer,
    reals,
    relative_positions,
    seeded_uniform,
)
from posembed_core.registry import register

_LEAST = 0.01  # the reference code keeps both parameters above this


@register
@dataclass(frozen=True, kw_only=True)
class Kerple(BiasEncoding):
    """b_ij = -p ln(1 + a |i - j|), or -a |i - j|^p with p <= 2: one p and one a for each head.

    Chi et al. 2022, section 4; ALiBi is the power kernel with p = 1. ``bias_p`` and ``bias_a`` are
    learned: give one number for each head, or none for the reference code's initialisation
    (chijames/KERPLE: p uniform in 0 … 2, a in 0 … 1, both at least 0.01), here with a seed.
    """

    slug: ClassVar[str] = "kerple"
    title: ClassVar[str] = "KERPLE (at initialisation)"
    year: ClassVar[int] = 2022
    reference: ClassVar[str] = (
        "Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length "
        "Extrapolation (arXiv:2205.09921), section 4"
    )
    formula: ClassVar[str] = (
        r"b_{ij} = -p_h \ln\left(1 + a_h |i - j|\right)"
        r"\quad\text{or}\quad -a_h\,|i - j|^{p_h}"
    )
    beyond: ClassVar[str] = "a new distance continues a kernel that keeps flattening"

    kernel: str = choice("log", "Kernel", ("log", "power"))
    bias_p: tuple[float, ...] = reals("p of each head")
    bias_a: tuple[float, ...] = reals("a of each head")
    seed: int = integer(42, "Parameter seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        return 2 * self.num_heads  # p and a of each head

    def validate(self) -> None:
        self._check("bias_p", 2.0 if self.kernel == "power" else 1e6)
        self._check("bias_a", 1e6)

    def _check(self, name: str, high: float) -> None:
        given = getattr(self, name)
        if len(given) not in {0, self.num_heads}:
            allowed = f"{self.num_heads} numbers, one for each head, or none"
            raise EncodingError(f"{name} must have {allowed}, got {len(given)}", field=name)
        nearest = tuple(min(max(value, _LEAST), high) for value in given)
        if nearest != given:
            between = f"between {_LEAST:g} and {high:g} with the {self.kernel} kernel"
            message = f"{name} must be {between}, got {given}; try {nearest}"
            raise EncodingError(message, field=name, nearest=nearest)

    @property
    def p_and_a(self) -> Float[Tensor, "2 num_heads"]:
        """The p and the a of each head: given, or drawn."""
        drawn = seeded_uniform(2, self.num_heads, self.seed)
        p, a = (drawn * torch.tensor([[2.0], [1.0]])).clamp(min=_LEAST).tolist()
        return torch.tensor([self.bias_p or p, self.bias_a or a])

    @property
    def half_lives(self) -> Float[Tensor, " num_heads"]:
        """(2^(1/p) - 1) / a with the logarithmic kernel, (ln 2 / a)^(1/p) with the power kernel."""
        p, a = self.p_and_a.double().unbind()
        if self.kernel == "log":
            return torch.expm1(math.log(2.0) / p) / a
        return (math.log(2.0) / a) ** p.reciprocal()

    def bias(
        self,
        query_positions: Positions,
        key_positions: Positions,
        *,
        heads: slice = slice(None),
    ) -> Float[Tensor, "heads q_len k_len"]:
        """The kernel of the distance, zero on the diagonal."""
        # float32 holds every distance up to 16,777,216 exactly, bfloat16 only up to 256.
        distances = relative_positions(query_positions, key_positions).abs().to(torch.float32)
        p, a = self.p_and_a[:, heads, None, None].unbind()
        fall = p * (a * distances).log1p() if self.kernel == "log" else a * distances**p
        return 0.0 - fall  # plain -fall would be -0 on the diagonal
