"""Contextual position encoding (CoPE): the words themselves decide which of them are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    Positions,
    RelativeEncoding,
    as_positions,
    choice,
    integer,
    relative_positions,
    seeded_normal,
)
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class Cope(RelativeEncoding):
    """s_ij = q_i·k_j / sqrt(d) + q_i·e[p_ij], p_ij = Σ_{t=j…i} g_it, g_it = σ(q_i·k_t).

    Golovneva et al. 2024, section 4 and the code in appendix B: a position counts the open gates
    from the key to the query; it is cut at ``npos_max - 1``, and e between whole positions is
    interpolated. Gates of keys after the query are shut (they come from the masked scores), so
    such keys are at position 0. ``gates="scaled"`` opens them with q·k / sqrt(d), as the code does,
    ``"unscaled"`` with q·k, as the formula. e is learned from zeros; here it is normal draws with
    deviation 1 / sqrt(head_dim), else there would be nothing to see.
    """

    slug: ClassVar[str] = "cope"
    title: ClassVar[str] = "CoPE (at initialisation)"
    year: ClassVar[int] = 2024
    reference: ClassVar[str] = (
        "Golovneva et al. 2024, CoPE (arXiv:2405.18719), section 4 and appendix B"
    )
    formula: ClassVar[str] = (
        r"p_{ij} = \sum_{t=j}^{i} \sigma(q_i^\top k_t),\quad s_{ij} = q_i^\top (k_j + e[p_{ij}])"
    )
    beyond: ClassVar[str] = "contextual positions are cut at the last row"
    counts_keys: ClassVar[bool] = True
    scaled: ClassVar[bool] = False  # the code divides q·k alone by sqrt(d)

    npos_max: int = integer(64, "Positions", low=1, high=8192)
    gates: str = choice("scaled", "Gates", ("scaled", "unscaled"))
    seed: int = integer(42, "Table seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        return self.npos_max * self.head_dim

    @property
    def weight(self) -> Float[Tensor, "npos_max head_dim"]:
        """e, a vector for each whole position."""
        return seeded_normal(self.npos_max, self.head_dim, self.seed, self.head_dim**-0.5)

    def contextual_positions(
        self,
        logits: Float[Tensor, "... q_len k_len"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """p_ij for the gates' logits: how many gates are open between each key and its query."""
        after = relative_positions(query_positions, key_positions) > 0
        gates = logits.sigmoid().masked_fill(after, 0.0)
        # Keys in any order: count from the last one in the text back to each.
        order = as_positions(key_positions).argsort(descending=True, stable=True)
        counted = gates[..., order].cumsum(-1)[..., order.argsort()]
        return counted.masked_fill(after, 0.0).clamp(max=self.npos_max - 1)

    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """q_i·e[p_ij], interpolated between the two whole positions around p_ij."""
        logits = q @ k.mT
        if self.gates == "scaled":
            logits = logits * self.softmax_scale(self.head_dim)
        counted = self.contextual_positions(logits, query_positions, key_positions)
        by_position = q @ self.weight.to(q.dtype).T
        below, above = counted.floor().long(), counted.ceil().long()
        return by_position.gather(-1, below).lerp(by_position.gather(-1, above), counted - below)

    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """The e of each key if every gate were open: CoPE then counts tokens, 1 at the query."""
        open_gates = torch.full((1, len(as_positions(key_positions))), torch.inf)
        counted = self.contextual_positions(open_gates, [query_position], key_positions)
        return self.weight[counted[0].long()]
