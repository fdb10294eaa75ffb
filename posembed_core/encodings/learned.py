"""The learned position-embedding table as it is before training: random rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    MAX_LENGTH,
    AdditiveEncoding,
    Positions,
    integer,
    real,
    seeded_normal,
)
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Learned(AdditiveEncoding):
    """p_i = P[i, :], a lookup in a table P of max_seq_len rows that training alone shapes.

    Gehring et al. 2017, section 3.1; BERT and GPT-2. Here the table at initialisation,
    P = RandomState(seed).randn(max_seq_len, embed_dim) · std after ``skip`` draws, with std =
    1 / sqrt(embed_dim) unless given (BERT and GPT-2 take 0.02): a row's norm is about 1 and
    neighbouring rows have nothing in common. Positions from max_seq_len on have no row.
    """

    slug: ClassVar[str] = "learned"
    title: ClassVar[str] = "Learned (at initialisation)"
    year: ClassVar[int] = 2017
    reference: ClassVar[str] = (
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning (arXiv:1705.03122), "
        "section 3.1"
    )
    formula: ClassVar[str] = (
        r"p_i = P[i,:],\quad P \in \mathbb{R}^{L_{\max} \times d},\;"
        r" P_{ij} \sim \mathcal{N}(0, 1/d)"
    )

    max_seq_len: int = integer(128, "Max length", low=1, high=MAX_LENGTH, role="length")
    seed: int = integer(42, "Table seed", low=0, high=2**32 - 1)
    std: float | None = real(
        None, "Initial std", low=0.0, high=100.0, optional=True, help="Empty: 1/√dimension"
    )
    skip: int = integer(0, "Draws skipped", low=0, high=10**7)

    @property
    def parameter_count(self) -> int:
        return self.max_seq_len * self.embed_dim

    @property
    def position_count(self) -> int:
        return self.max_seq_len

    def table(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "... embed_dim"]:
        """Row ``i`` of the table for each position ``i``.

        Raises `EncodingError`, before any lookup, for a position outside 0 … max_seq_len - 1.
        """
        checked = self.check_positions(positions)
        # Rows come out the same however many are drawn, so draw no more than are needed.
        rows = int(checked.max()) + 1 if checked.numel() else 0
        std = self.embed_dim**-0.5 if self.std is None else self.std
        return seeded_normal(rows, self.embed_dim, self.seed, std, self.skip)[checked].to(dtype)
