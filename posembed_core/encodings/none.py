"""No position at all (NoPE): the zero vector everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import AdditiveEncoding, Positions, as_positions
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class NoEncoding(AdditiveEncoding):
    """p_i = 0: h = e, and without a mask attention cannot tell the order of the words.

    With a causal mask a decoder can still learn position from how many tokens it sees
    (Kazemnejad et al. 2023). Shuffling the tokens shuffles the scores, exactly:
    ``scores(Pq, Pk) = P scores(q, k) Pᵀ``.
    """

    slug: ClassVar[str] = "none"
    title: ClassVar[str] = "None (NoPE)"
    year: ClassVar[int] = 2023
    reference: ClassVar[str] = (
        "Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization in "
        "Transformers (arXiv:2305.19466), section 3"
    )
    formula: ClassVar[str] = r"p_i = 0"
    beyond: ClassVar[str] = "there is nothing to run out of; a causal mask alone tells the order"
    door: ClassVar[str] = "none"

    def table(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "... embed_dim"]:
        """Zeros for every position, however large."""
        checked = as_positions(positions)
        return torch.zeros(*checked.shape, self.embed_dim, dtype=dtype)
