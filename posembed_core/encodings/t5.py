"""T5's relative position bias: one learned number for each head and bucket of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.base import (
    BiasEncoding,
    EncodingError,
    Positions,
    flag,
    integer,
    real,
    relative_positions,
    seeded_normal,
)
from posembed_core.buckets import widening_buckets
from posembed_core.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class T5(BiasEncoding):
    """b_ij = B[bucket(j - i), h]: near distances have a bucket each, far ones share them.

    Raffel et al. 2020, section 2.1. Of the N buckets for one direction the first N/2 are single
    distances; the others widen with the logarithm up to ``max_distance``, from where all share the
    last. Bidirectional, half of ``num_buckets`` is for keys before the query (and itself), half for
    keys after it; otherwise keys after it fall into bucket 0. Scores are not divided by the root of
    the dimension. B is learned; here it is as transformers initialises it, normal with
    ``initializer_factor / sqrt(d_model)`` as deviation and 64 model dimensions for each head.
    """

    slug: ClassVar[str] = "t5"
    title: ClassVar[str] = "T5 relative bias (at initialisation)"
    year: ClassVar[int] = 2019
    reference: ClassVar[str] = "Raffel et al. 2019, T5 (arXiv:1910.10683), section 2.1"
    formula: ClassVar[str] = r"b_{ij} = B_{\mathrm{bucket}(j - i),\,h}"
    beyond: ClassVar[str] = "distances from max_distance on share the last bucket"

    num_buckets: int = integer(32, "Buckets", low=2, high=512)
    max_distance: int = integer(128, "Greatest distance", low=2, high=1_000_000, log=True)
    bidirectional: bool = flag(True, "Bidirectional")
    initializer_factor: float = real(1.0, "Initial size", low=0.0, high=100.0)
    seed: int = integer(42, "Table seed", low=0, high=2**32 - 1)

    @property
    def parameter_count(self) -> int:
        return self.num_buckets * self.num_heads

    def validate(self) -> None:
        if self.bidirectional and self.num_buckets < 4:
            message = f"num_buckets must be 4 or more when bidirectional, got {self.num_buckets}"
            raise EncodingError(f"{message}; try 4", field="num_buckets", nearest=4)
        exact = self._one_direction // 2
        if self.max_distance <= exact:
            raise EncodingError(
                f"max_distance must be above {exact}, the distances that have a bucket each with "
                f"num_buckets={self.num_buckets}, got {self.max_distance}; try {exact + 1}",
                field="max_distance",
                nearest=exact + 1,
            )

    @property
    def _one_direction(self) -> int:
        return self.num_buckets // 2 if self.bidirectional else self.num_buckets

    @property
    def weight(self) -> Float[Tensor, "num_buckets num_heads"]:
        """The table B at initialisation."""
        std = self.initializer_factor * (64 * self.num_heads) ** -0.5
        return seeded_normal(self.num_buckets, self.num_heads, self.seed, std)

    def buckets(self, query_positions: Positions, key_positions: Positions) -> Int[Tensor, "q k"]:
        """The bucket of each pair, int64, decided with whole numbers only."""
        relative = relative_positions(query_positions, key_positions)
        distances = relative.abs() if self.bidirectional else (-relative).clamp(min=0)
        buckets = widening_buckets(distances, self._one_direction, self.max_distance)
        return buckets + self._one_direction * (relative > 0) if self.bidirectional else buckets

    def bias(
        self,
        query_positions: Positions,
        key_positions: Positions,
        *,
        heads: slice = slice(None),
    ) -> Float[Tensor, "heads q_len k_len"]:
        """The table's number for the bucket of each pair."""
        return self.weight.T[heads][:, self.buckets(query_positions, key_positions)]

    def softmax_scale(self, head_dim: int) -> float:
        """1: T5 leaves the root of the dimension to the initialisation of its projections."""
        return 1.0
