"""Relative position representations: a vector for each clipped distance, in keys and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.base import (
    Positions,
    RelativeEncoding,
    integer,
    relative_positions,
    seeded_normal,
)
from posembed_core.buckets import look_up
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Shaw(RelativeEncoding):
    """e_ij = q_i · (k_j + a^K_ij), z_i = Σ_j α_ij (v_j + a^V_ij), a_ij = w[clip(j - i, -k, k) + k].

    Shaw et al. 2018, eq. 1 to 4. Two tables of 2k + 1 rows, shared by all heads; distances beyond
    k = ``max_relative_position`` share the last row on their side. The tables are learned; here
    they are normal draws with deviation 1 / sqrt(head_dim).
    """

    slug: ClassVar[str] = "shaw"
    title: ClassVar[str] = "Shaw (at initialisation)"
    year: ClassVar[int] = 2018
    reference: ClassVar[str] = "Shaw et al. 2018, Relative Positions (arXiv:1803.02155), eq. 1–4"
    formula: ClassVar[str] = (
        r"s_{ij} = q_i^\top\left(k_j + a^K_{ij}\right),\quad"
        r"a^K_{ij} = w^K_{\mathrm{clip}(j-i,\,-k,\,k)}"
    )
    beyond: ClassVar[str] = "distances beyond the clipping distance share the last vector"

    max_relative_position: int = integer(16, "Clipping distance", low=0, high=4096)
    seed: int = integer(42, "Table seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        return 2 * (2 * self.max_relative_position + 1) * self.head_dim  # both tables

    def indices(self, query_positions: Positions, key_positions: Positions) -> Int[Tensor, "q k"]:
        """The table row of each pair: key - query, clipped, counted from 0."""
        limit = self.max_relative_position
        return relative_positions(query_positions, key_positions).clamp(-limit, limit) + limit

    @property
    def key_table(self) -> Float[Tensor, "rows head_dim"]:
        """w^K: 2 max_relative_position + 1 rows."""
        return self._tables()[0]

    @property
    def value_table(self) -> Float[Tensor, "rows head_dim"]:
        """w^V: as many rows, drawn after those of the keys."""
        return self._tables()[1]

    def _tables(self) -> tuple[Tensor, ...]:
        rows = 2 * self.max_relative_position + 1
        return seeded_normal(2 * rows, self.head_dim, self.seed, self.head_dim**-0.5).chunk(2)

    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """q_i · a^K_ij: each query times every row, then the row that each key asks for."""
        rows = self.indices(query_positions, key_positions)
        return look_up(q @ self.key_table.to(q.dtype).T, rows)

    def relative_values(
        self,
        weights: Float[Tensor, "... q_len k_len"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len head_dim"]:
        """Σ_j α_ij a^V_ij: the weights summed by row, then times the rows."""
        table = self.value_table.to(weights.dtype)
        rows = self.indices(query_positions, key_positions).expand(weights.shape)
        by_row = weights.new_zeros(*weights.shape[:-1], table.shape[0])
        return by_row.scatter_add(-1, rows, weights) @ table

    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """a^K_ij of each key for the query at ``query_position``."""
        return self.key_table[self.indices([query_position], key_positions)[0]]
