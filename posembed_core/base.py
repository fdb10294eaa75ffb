"""Four families of encodings, one for each way in which position enters attention.

This is the one door to what an encoding's file needs: fields, positions and seeded draws are handed
on. Beside it such a file imports `register`, and the arithmetic of frequencies and buckets.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.encoding import WHOLE, Encoding, Excerpt
from posembed_core.frequencies import (
    Pairing,
    inverse_frequencies,
    join_pairs,
    position_angles,
    rotate_pairs,
)
from posembed_core.operations import Combined, Operation, join
from posembed_core.parameters import (
    EncodingError,
    choice,
    flag,
    integer,
    real,
    reals,
)
from posembed_core.positions import (
    Positions,
    as_positions,
    relative_positions,
    sequence_length,
)
from posembed_core.seeded import seeded_normal, seeded_uniform

__all__ = [
    "MAX_DIM",
    "MAX_LENGTH",
    "AdditiveEncoding",
    "BiasEncoding",
    "Encoding",
    "EncodingError",
    "Positions",
    "RelativeEncoding",
    "RotaryEncoding",
    "as_positions",
    "choice",
    "flag",
    "integer",
    "real",
    "reals",
    "relative_positions",
    "seeded_normal",
    "seeded_uniform",
]

MAX_LENGTH = 8192  # positions of one table
MAX_DIM = 4096  # channels of one vector


@dataclass(frozen=True, kw_only=True)
class AdditiveEncoding(Encoding):
    """Door 1, the input: a vector for each position is added to the token's vector.

    >>> import posembed_core as pc
    >>> pc.create("sinusoidal", embed_dim=2).table([0, 1])
    tensor([[0.0000, 1.0000],
            [0.8415, 0.5403]])
    """

    door: ClassVar[str] = "input"
    embed_dim: int = integer(64, "Dimension", low=2, high=MAX_DIM, role="dimension")

    @abstractmethod
    def table(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "... embed_dim"]:
        """The vector of each position: ``positions.shape + (embed_dim,)``.

        Raises `EncodingError` for a position that has no vector.
        """

    @property
    def position_count(self) -> int | None:
        """How many positions, from 0 on, have a vector; None where every integer has one."""
        return None

    @property
    def vector_width(self) -> int:
        return self.embed_dim

    def contribute(
        self,
        token: Float[Tensor, "n d"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H = e + s·p, e ∘ s·p or [e; s·p]; the vectors are the rows p."""
        p = self.table(positions, token.dtype) if excerpt.vectors is None else excerpt.vectors
        moved = scale * p
        return Combined(token, moved, join(token, moved, operation), moved)

    def check_positions(self, positions: Positions) -> Int[Tensor, "..."]:
        """Positions as int64; `EncodingError`, naming both numbers, for one without a vector."""
        where, count = as_positions(positions), self.position_count
        outside = where[(where < 0) | (where >= count)] if count is not None else where[:0]
        if count is not None and outside.numel():
            raise EncodingError(
                f"position {int(outside[0])} has no row in a table of {count} rows: positions go "
                f"from 0 to {count - 1}; use a longer table, interpolate it, or use a formula",
                field="positions",
                nearest=min(max(int(outside[0]), 0), count - 1),
            )
        return where

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
        """``(q + scale P[i]) · (k + scale P[j])``: the input's change seen through identity maps.

        With real projections the vectors are added before them (see `attention.layer`).
        """
        queries = q + scale * self.table(query_positions, q.dtype)
        keys = k + scale * self.table(key_positions, k.dtype)
        return softmax_scale * (queries @ keys.mT)


@dataclass(frozen=True, kw_only=True)
class RotaryEncoding(Encoding):
    """Door 3, the projections, multiplied: each pair of channels turns with the position.

    >>> import posembed_core as pc
    >>> import torch
    >>> rope = pc.create("rope", head_dim=4, base=100.0, pairing="interleaved")
    >>> rope.inv_freq()  # radians per position, one for each pair
    tensor([1.0000, 0.1000], dtype=torch.float64)
    >>> rope.rotate(torch.tensor([[1.0, 0.0, 1.0, 0.0]]), positions=[1])
    tensor([[0.5403, 0.8415, 0.9950, 0.0998]])
    """

    door: ClassVar[str] = "projections"
    is_linear: ClassVar[bool] = False  # a rotation by twice the angle is not twice the rotation
    head_dim: int = integer(64, "Dimension", low=2, high=MAX_DIM, role="dimension")
    base: float = real(10000.0, "Base", low=1.0, high=1e12, log=True, help="Greatest wavelength/2π")
    pairing: Pairing = choice("half", "Pair layout", ("half", "interleaved"))
    rotary_fraction: float = real(
        1.0, "Rotated part", low=0.0, high=1.0, help="The share of the channels that turns"
    )

    # What a Hugging Face config calls it (rope_type), and the keys that it must and may give.
    rope_types: ClassVar[tuple[str, ...]] = ()
    required_keys: ClassVar[tuple[str, ...]] = ()
    optional_keys: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        width = self.rotary_dim
        if width < 2 or width % 2:
            if self.rotary_fraction == 1.0:
                raise EncodingError(
                    f"head_dim must be even to form pairs, got {self.head_dim}; "
                    f"try {self.head_dim + 1}",
                    field="head_dim",
                    nearest=self.head_dim + 1 if self.head_dim < MAX_DIM else self.head_dim - 1,
                )
            nearest = min(max(2, width + width % 2), self.head_dim - self.head_dim % 2)
            raise EncodingError(
                f"the rotated part must be an even number of channels to form pairs, got {width} "
                f"(rotary_fraction {self.rotary_fraction:g} of head_dim {self.head_dim}); "
                f"try rotary_fraction={nearest / self.head_dim:g}",
                field="rotary_fraction",
                nearest=nearest / self.head_dim,
            )

    @property
    def rotary_dim(self) -> int:
        """How many channels turn: the first ones."""
        return int(self.head_dim * self.rotary_fraction)

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """Radians per position of each pair, float64, for a sequence of ``seq_len`` tokens.

        A pure function of ``seq_len``; None means a length within the trained one.
        """
        return inverse_frequencies(self.rotary_dim, self.base)

    def attention_factor(self, seq_len: int | None = None) -> float:
        """What cos and sin are multiplied by, so that scores grow by its square."""
        return 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """How many times longer a pair's wavelength grows where it is interpolated in full."""
        return 1.0

    def rotate(
        self,
        x: Float[Tensor, "... n head_dim"],
        positions: Positions,
        seq_len: int | None = None,
        *,
        scale: float = 1.0,
    ) -> Float[Tensor, "... n head_dim"]:
        """``x`` with each pair turned by ``scale * position * inv_freq``; dtype of ``x``.

        ``seq_len`` is the whole sequence's length where the frequencies depend on it; None takes
        one more than the greatest position given. ``scale=0.5`` is position interpolation by 2.
        """
        where = as_positions(positions)
        length = self._length(where, seq_len)
        angles = self.angles(where, length, scale=scale)
        return rotate_pairs(x, angles, self.pairing, self.attention_factor(length))

    def angles(
        self, positions: Positions, seq_len: int | None = None, *, scale: float = 1.0
    ) -> Float[Tensor, "... pairs"]:
        """The angle of each pair at each position, radians, float64."""
        where = as_positions(positions)
        length = self._length(where, seq_len)
        return position_angles(where, self.inv_freq(length), scale)

    def _length(self, where: Int[Tensor, "..."], seq_len: int | None) -> int:
        return sequence_length(where) if seq_len is None else seq_len

    def cosines(
        self, positions: Positions, seq_len: int | None = None, *, scale: float = 1.0
    ) -> Float[Tensor, "... head_dim"]:
        """Cosine of the angle by which each channel's pair is turned, float64: its picture.

        The first column of each pair's 2 × 2 matrix; 1 for channels that don't turn. It is the
        rotation of a vector whose pairs are all (1, 0), read back at both channels of each pair.
        """
        angles = self.angles(positions, seq_len, scale=scale)
        cosines = torch.ones(*angles.shape[:-1], self.head_dim, dtype=torch.float64)
        cosines[..., : self.rotary_dim] = self.per_channel(angles.cos())
        return cosines

    @property
    def vector_width(self) -> int:
        return self.head_dim

    def contribute(
        self,
        token: Float[Tensor, "n head_dim"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H is e, turned by ``scale`` times the angle of each position."""
        turned = self.rotate(token, positions, excerpt.seq_len, scale=scale)
        position = self.cosines(positions, excerpt.seq_len, scale=scale).to(token.dtype)
        return Combined(token, position, turned, turned - token)

    def per_channel(self, pairs: Float[Tensor, "... pairs"]) -> Float[Tensor, "... rotary_dim"]:
        """A value for each pair, written at both channels of the pair."""
        return join_pairs(pairs, pairs, self.pairing)

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
        """Products of the rotated queries and keys, both at the length of the longer one."""
        both = (as_positions(query_positions), as_positions(key_positions))
        length = max(map(sequence_length, both))
        queries = self.rotate(q, both[0], length, scale=scale)
        keys = self.rotate(k, both[1], length, scale=scale)
        return softmax_scale * (queries @ keys.mT)


@dataclass(frozen=True, kw_only=True)
class BiasEncoding(Encoding):
    """Door 2, the scores: a number for each pair of positions is added before softmax.

    >>> import posembed_core as pc
    >>> pc.create("alibi", num_heads=8).bias([2], [0, 1, 2])[0]  # slope 1/2
    tensor([[-1.0000, -0.5000,  0.0000]])
    """

    door: ClassVar[str] = "scores"
    acts_inside: ClassVar[bool] = True
    num_heads: int = integer(8, "Heads", low=1, high=256)

    @abstractmethod
    def bias(
        self,
        query_positions: Positions,
        key_positions: Positions,
        *,
        heads: slice = slice(None),
    ) -> Float[Tensor, "heads q_len k_len"]:
        """What is added to the scores of each head (or of those in ``heads``), float32."""

    def contribute(
        self,
        token: Float[Tensor, "n d"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H = e; the vectors are the bias, and empty ones where nobody asks for it."""
        b = excerpt.vectors
        if b is None:
            b = self.bias(positions, positions, heads=excerpt.heads).to(token.dtype)
        return Combined(token, scale * b, token, torch.zeros_like(token))

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
        """``softmax_scale * q · k + scale * bias``; the axis before the last two is the head."""
        bias = self.bias(query_positions, key_positions).to(q.dtype)
        return softmax_scale * (q @ k.mT) + scale * bias


@dataclass(frozen=True, kw_only=True)
class RelativeEncoding(Encoding):
    """Door 3, the projections, added: vectors for relative positions join query or key.

    >>> import posembed_core as pc
    >>> import torch
    >>> shaw = pc.create("shaw", head_dim=4)
    >>> q, k = torch.ones(2, 4), torch.ones(3, 4)
    >>> shaw.relative_scores(q, k, [0, 1], [0, 1, 2]).shape
    torch.Size([2, 3])
    """

    door: ClassVar[str] = "projections"
    acts_inside: ClassVar[bool] = True
    # Whether softmax_scale multiplies what position adds, too.
    scaled: ClassVar[bool] = True
    head_dim: int = integer(64, "Dimension", low=2, high=MAX_DIM, role="dimension")

    @abstractmethod
    def relative_scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len k_len"]:
        """What position adds to the product of each query and key, before ``softmax_scale``."""

    @abstractmethod
    def vectors(self, query_position: int, key_positions: Positions) -> Float[Tensor, "n head_dim"]:
        """The relative vector of each key as the query at ``query_position`` sees it, float32."""

    @property
    def vector_width(self) -> int:
        return self.head_dim

    def contribute(
        self,
        token: Float[Tensor, "n head_dim"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """H = e; the vectors are those of each position relative to the excerpt's query."""
        a = excerpt.vectors
        if a is None:
            a = self.vectors(excerpt.query, positions).to(token.dtype)
        return Combined(token, scale * a, token, torch.zeros_like(token))

    def relative_values(
        self,
        weights: Float[Tensor, "... q_len k_len"],
        query_positions: Positions,
        key_positions: Positions,
    ) -> Float[Tensor, "... q_len head_dim"]:
        """What position adds to the weighted sum of the values: nothing in most encodings."""
        return weights.new_zeros(*weights.shape[:-1], self.head_dim)

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
        """``softmax_scale * (q · k + scale * relative_scores)``, or only q · k is multiplied."""
        relative = scale * self.relative_scores(q, k, query_positions, key_positions)
        return softmax_scale * (q @ k.mT) + (softmax_scale if self.scaled else 1.0) * relative
