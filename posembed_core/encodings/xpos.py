"""xPos: RoPE whose pairs also shrink with distance, the fast ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    EncodingError,
    Positions,
    RotaryEncoding,
    as_positions,
    real,
    relative_positions,
)
from posembed_core.frequencies import split_pairs
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class XPos(RotaryEncoding):
    """s_ij = Σ_m ζ_m^((i - j)/512) (R_i q_i)_m · (R_j k_j)_m with ζ_m = (2m/d + 0.4) / 1.4.

    Sun et al. 2022, section 2.3: queries are multiplied by ζ^(i/512), keys by ζ^(-j/512), and RoPE
    turns both. Only the quotient of the two counts, so no centre is chosen here, and nothing
    overflows on the way (apart, ζ_0^-16 = 5.1e8 at position 8192 is out of float16's range).
    Causal by design: a key after the query is amplified. `rotate` is the rotation alone.
    """

    slug: ClassVar[str] = "xpos"
    title: ClassVar[str] = "xPos"
    year: ClassVar[int] = 2022
    reference: ClassVar[str] = (
        "Sun et al. 2022, A Length-Extrapolatable Transformer (arXiv:2212.10554), section 2.3"
    )
    formula: ClassVar[str] = (
        r"s_{ij} = \sum_m \zeta_m^{(i-j)/512}\,(R_i q_i)_m^\top (R_j k_j)_m,\quad"
        r"\zeta_m = \frac{2m/d + 0.4}{1.4}"
    )
    beyond: ClassVar[str] = "far keys fade out, the fast pairs first"
    acts_on_scores: ClassVar[bool] = True

    scale_base: float = real(
        512.0, "Decay distance", low=64.0, high=1e6, log=True, help="The 512 of the formula"
    )

    @property
    def zeta(self) -> Float[Tensor, " pairs"]:
        """What ``scale_base`` tokens of distance multiply each pair's share by, float64."""
        even = torch.arange(0, self.rotary_dim, 2, dtype=torch.float64)
        return (even / self.rotary_dim + 0.4) / 1.4

    def score_factors(self, distance: int, scale: float = 1.0) -> Float[Tensor, " pairs"]:
        """ζ_m^(scale · distance / scale_base)."""
        return self.zeta ** (scale * distance / self.scale_base)

    def scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
        *,
        scale: float = 1.0,
        softmax_scale: float = 1.0,
    ) -> Float[Tensor, "... q_len k_len"]:
        """Pair by pair in float64; raises `EncodingError` where a score leaves the dtype of q.

        That happens to keys far after their query, and to nothing else: for float32 from about
        36,000 tokens with ``scale_base=512``, for float16 from about 4,500.
        """
        positions = as_positions(query_positions), as_positions(key_positions)
        distances = relative_positions(*positions).to(torch.float64) * (-scale / self.scale_base)
        queries = self.rotate(q.to(torch.float64), positions[0], scale=scale)
        keys = self.rotate(k.to(torch.float64), positions[1], scale=scale)
        width = self.rotary_dim
        total = queries[..., width:] @ keys[..., width:].mT
        q_a, q_b = split_pairs(queries[..., :width], self.pairing)
        k_a, k_b = split_pairs(keys[..., :width], self.pairing)
        for m, log_zeta in enumerate(self.zeta.log()):
            pair = slice(m, m + 1)
            products = q_a[..., pair] @ k_a[..., pair].mT + q_b[..., pair] @ k_b[..., pair].mT
            total += products * (distances * log_zeta).exp()
        out = (softmax_scale * total).to(q.dtype)
        if not out.isfinite().all() and q.isfinite().all() and k.isfinite().all():
            after = f"a key {int(relative_positions(*positions).max())} tokens after its query"
            message = f"{after} is amplified beyond what {q.dtype} holds; bring positions closer"
            raise EncodingError(message, field="positions")
        return out
