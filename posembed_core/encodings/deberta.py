"""DeBERTa's disentangled attention: content and position meet in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

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
from posembed_core.buckets import signed_log_buckets
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Deberta(RelativeEncoding):
    """s_ij = q_i·k_j + q_i·(P W_k)[δ(i,j)] + k_j·(P W_q)[δ(j,i)], times 1 / sqrt(3 d).

    He et al. 2021, eq. 2 to 4; δ(i,j) is i - j + K, cut to 0 … 2K - 1. ``p2c="released"`` reads the
    third term at δ(i,j), as the code of the released checkpoints does (microsoft/DeBERTa,
    transformers), ``"paper"`` at δ(j,i). ``distances="log"`` is version 2 and later: K is
    ``position_buckets``, half of them for single distances, the others widening up to
    ``max_relative_positions``; ``"clipped"`` is version 1, where K is ``max_relative_positions``.
    P is learned; here P, W_k and W_q are normal draws, P with deviation 1 (version 2 normalises its
    rows), the others with 1 / sqrt(head_dim).
    """

    slug: ClassVar[str] = "deberta"
    title: ClassVar[str] = "DeBERTa (at initialisation)"
    year: ClassVar[int] = 2020
    reference: ClassVar[str] = (
        "He et al. 2021, DeBERTa: Decoding-enhanced BERT with Disentangled Attention "
        "(arXiv:2006.03654), eq. 2–4"
    )
    formula: ClassVar[str] = (
        r"s_{ij} = q_i^\top k_j + q_i^\top k^r_{\delta(i,j)} + k_j^\top q^r_{\delta(j,i)}"
    )

    p2c: str = choice("released", "Position to content", ("released", "paper"))
    distances: str = choice("clipped", "Distances", ("clipped", "log"))
    position_buckets: int = integer(256, "Buckets", low=4, high=4096)
    max_relative_positions: int = integer(512, "Greatest distance", low=1, high=4096)
    seed: int = integer(42, "Table seed", low=0, high=2**32 - 1)

    def validate(self) -> None:
        least = self.position_buckets // 2 + 2
        if self.distances == "log" and self.max_relative_positions < least:
            raise EncodingError(
                f"max_relative_positions must be at least {least} with "
                f"position_buckets={self.position_buckets}, got {self.max_relative_positions}; "
                f"try {least}",
                field="max_relative_positions",
                nearest=least,
            )

    @property
    def span(self) -> int:
        """K: the table has 2K rows."""
        return self.position_buckets if self.distances == "log" else self.max_relative_positions

    def indices(
        self, query_positions: Positions, key_positions: Positions
    ) -> Int[Tensor, "q_len k_len"]:
        """δ(i,j): the row for query i and key j, what a query reads (content to position)."""
        return self._rows(-relative_positions(query_positions, key_positions))

    def key_indices(
        self, query_positions: Positions, key_positions: Positions
    ) -> Int[Tensor, "q_len k_len"]:
        """The row that key j reads for query i (position to content), δ(j,i) in the paper."""
        relative = relative_positions(query_positions, key_positions)
        return self._rows(relative if self.p2c == "paper" else -relative)

    def _rows(self, relative: Int[Tensor, "q_len k_len"]) -> Int[Tensor, "q_len k_len"]:
        if self.distances == "log":
            relative = signed_log_buckets(
                relative, self.position_buckets, self.max_relative_positions
            )
        return (relative + self.span).clamp(0, 2 * self.span - 1)

    @property
    def key_table(self) -> Float[Tensor, "rows head_dim"]:
        """P W_k: what queries are multiplied with."""
        return self._projected(0)

    @property
    def query_table(self) -> Float[Tensor, "rows head_dim"]:
        """P W_q: what keys are multiplied with."""
        return self._projected(1)

    def _projected(self, which: int) -> Float[Tensor, "rows head_dim"]:
        rows, width = 2 * self.span, self.head_dim
        table = seeded_normal(rows, width, self.seed)
        skip = (rows + which * width) * width
        return table @ seeded_normal(width, width, self.seed, width**-0.5, skip)

    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """Content to position plus position to content."""
        c2p = q @ self.key_table.to(q.dtype).T
        p2c = k @ self.query_table.to(k.dtype).T
        rows = self.indices(query_positions, key_positions)
        key_rows = self.key_indices(query_positions, key_positions).T
        return (
            c2p.gather(-1, rows.expand(*c2p.shape[:-1], rows.shape[-1]))
            + p2c.gather(-1, key_rows.expand(*p2c.shape[:-1], key_rows.shape[-1])).mT
        )

    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """(P W_k)[δ(i,j)] of each key j for the query at i."""
        return self.key_table[self.indices([query_position], key_positions)[0]]

    def softmax_scale(self, head_dim: int) -> float:
        """1 / sqrt(3 head_dim), for three terms."""
        return float((3 * head_dim) ** -0.5)
