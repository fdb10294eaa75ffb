"""Rotary position embedding (RoPE), without any scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from posembed_core.base import RotaryEncoding
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Rope(RotaryEncoding):
    """Pair m of a query or key at position i turns by the angle i / base^(2m/d).

    Su et al. 2021, eq. 14 to 16 and 34. The product of a rotated query and a rotated key depends on
    their distance alone, and norms stay. ``pairing="half"`` pairs dimensions (m, m + d/2) as
    transformers' Llama does, ``"interleaved"`` (2m, 2m + 1) as the paper and Meta's code do;
    converting between them permutes the rows of the query and key weights. ``rotary_fraction``
    below 1 leaves the last dimensions as they are (GPT-NeoX); frequencies are those of the rotated
    width.
    """

    slug: ClassVar[str] = "rope"
    title: ClassVar[str] = "RoPE"
    year: ClassVar[int] = 2021
    reference: ClassVar[str] = (
        "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding "
        "(arXiv:2104.09864), eq. 14–16 and 34"
    )
    formula: ClassVar[str] = (
        r"\begin{pmatrix} h_{a} \\ h_{b} \end{pmatrix} = "
        r"\begin{pmatrix} \cos i\omega_m & -\sin i\omega_m \\ \sin i\omega_m & \cos i\omega_m "
        r"\end{pmatrix} \begin{pmatrix} e_{a} \\ e_{b} \end{pmatrix},\quad \omega_m = b^{-2m/d}"
    )
    # "mrope" (Qwen2-VL) turns by the same frequencies, taken from several axes of position.
    rope_types: ClassVar[tuple[str, ...]] = ("default", "mrope")
