"""DeBERTa's disentangled attention: content and position meet in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.base import (
    EncodingError,
    Positions,
    RelativeEncoding,
    choice,
    integer,
    relative_positions,
    seeded_normal,
)
from posembed_core.buckets import look_up, signed_log_buckets
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Deberta(RelativeEncoding):
    """s_ij = q_i·k_j + q_i·(P W_k)[δ(i,j)] + k_j·(P W_q)[δ(j,i)], times 1 / sqrt(3 d).

    He et al. 2021, eq. 2 to 4; δ(i,j) = i - j + K, cut to 0 … 2K - 1; released code reads the last
    term at δ(i,j). Version 1 is ``distances="clipped"``, K = ``max_relative_positions``; version 2
    ``"log"``, K = ``position_buckets`` that widen. P and the Ws are learned: here normal draws.
    """

    slug: ClassVar[str] = "deberta"
    title: ClassVar[str] = "DeBERTa (at initialisation)"
    year: ClassVar[int] = 2020
    reference: ClassVar[str] = "He et al. 2021, DeBERTa (arXiv:2006.03654), eq. 2–4"
    formula: ClassVar[str] = r"s_{ij} = q_i k_j + q_i k^r_{\delta(i,j)} + k_j q^r_{\delta(j,i)}"
    beyond: ClassVar[str] = "distances beyond the greatest share the last row"

    p2c: str = choice("released", "Position to content", ("released", "paper"))
    distances: str = choice("clipped", "Distances", ("clipped", "log"))
    position_buckets: int = integer(256, "Buckets", low=4, high=512)
    max_relative_positions: int = integer(512, "Greatest distance", low=1, high=4096)
    seed: int = integer(42, "Table seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        return 2 * self.head_dim * (self.span + self.head_dim)  # P, W_k and W_q

    def validate(self) -> None:
        name, least = "max_relative_positions", self.position_buckets // 2 + 2
        if self.distances == "log" and self.max_relative_positions < least:
            why = f"at least {least} with position_buckets={self.position_buckets}"
            message = f"{name} must be {why}, got {self.max_relative_positions}; try {least}"
            raise EncodingError(message, field=name, nearest=least)

    @property
    def span(self) -> int:
        """K: the table has 2K rows."""
        return self.position_buckets if self.distances == "log" else self.max_relative_positions

    def rows(self, query_positions: Positions, key_positions: Positions) -> Int[Tensor, "2 q k"]:
        """The table row that query i reads for key j, δ(i,j), and the one that key j reads."""
        c2p = -relative_positions(query_positions, key_positions)
        both = torch.stack((c2p, -c2p if self.p2c == "paper" else c2p))
        if self.distances == "log":
            both = signed_log_buckets(both, self.position_buckets, self.max_relative_positions)
        return (both + self.span).clamp(0, 2 * self.span - 1)

    @property
    def tables(self) -> tuple[Float[Tensor, "rows head_dim"], Float[Tensor, "rows head_dim"]]:
        """P W_k, which queries are multiplied with, and P W_q, which keys are."""
        width, table = self.head_dim, seeded_normal(2 * self.span, self.head_dim, self.seed)
        weights = seeded_normal(2 * width, width, self.seed, width**-0.5, skip=table.numel())
        return table @ weights[:width], table @ weights[width:]

    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """Content to position plus position to content."""
        for_queries, for_keys = (table.to(q.dtype).T for table in self.tables)
        c2p_rows, p2c_rows = self.rows(query_positions, key_positions)
        return look_up(q @ for_queries, c2p_rows) + look_up(k @ for_keys, p2c_rows.T).mT

    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """(P W_k)[δ(i,j)] of each key j for the query at i."""
        return self.tables[0][self.rows([query_position], key_positions)[0, 0]]

    def softmax_scale(self, head_dim: int) -> float:
        return float((3 * head_dim) ** -0.5)
