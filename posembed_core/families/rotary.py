"""Door 3, multiplied: pairs of dimensions of queries and keys turn with the position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.encoding import MAX_DIM, WHOLE, Encoding, Excerpt
from posembed_core.frequencies import (
    Pairing,
    inverse_frequencies,
    join_pairs,
    position_angles,
    rotate_pairs,
)
from posembed_core.operations import Combined, Operation
from posembed_core.parameters import EncodingError, choice, integer, real
from posembed_core.positions import Positions, as_positions, sequence_length


@dataclass(frozen=True, kw_only=True)
class RotaryEncoding(Encoding):
    """Door 3, the projections, multiplied: each pair of dimensions turns with the position.

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
        1.0, "Rotated part", low=0.0, high=1.0, help="The share of the dimensions that turns"
    )

    # Whether scores are more than the products of turned queries and keys.
    acts_on_scores: ClassVar[bool] = False

    # Its rope_type in a Hugging Face config, and the keys that the config must and may give.
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
                f"the rotated part must be an even number of dimensions to form pairs, got {width} "
                f"(rotary_fraction {self.rotary_fraction:g} of head_dim {self.head_dim}); "
                f"try rotary_fraction={nearest / self.head_dim:g}",
                field="rotary_fraction",
                nearest=nearest / self.head_dim,
            )

    @property
    def rotary_dim(self) -> int:
        """How many dimensions turn: the first ones."""
        return int(self.head_dim * self.rotary_fraction)

    def inv_freq(self, seq_len: int | None = None) -> Float[Tensor, " pairs"]:
        """Radians per position of each pair, float64, for a sequence of ``seq_len`` tokens.

        A pure function of ``seq_len``; None means a length within the trained one.
        """
        return inverse_frequencies(self.rotary_dim, self.base)

    def attention_factor(self, seq_len: int | None = None) -> float:
        """What cos and sin are multiplied by, so that scores grow by its square."""
        return 1.0

    def score_factors(self, distance: int, scale: float = 1.0) -> Float[Tensor, " pairs"]:
        """What each pair's share of a score is multiplied by beside the rotation, float64.

        For a key ``distance`` tokens before its query; ones where the rotation is all.

        >>> import posembed_core as pc
        >>> pc.create("rope", head_dim=4).score_factors(100)
        tensor([1., 1.], dtype=torch.float64)
        """
        return torch.ones(self.rotary_dim // 2, dtype=torch.float64)

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
        checked = as_positions(positions)
        length = self._length(checked, seq_len)
        angles = self.angles(checked, length, scale=scale)
        return rotate_pairs(x, angles, self.pairing, self.attention_factor(length))

    def angles(
        self, positions: Positions, seq_len: int | None = None, *, scale: float = 1.0
    ) -> Float[Tensor, "... pairs"]:
        """The angle of each pair at each position, radians, float64."""
        checked = as_positions(positions)
        length = self._length(checked, seq_len)
        return position_angles(checked, self.inv_freq(length), scale)

    def _length(self, checked: Int[Tensor, "..."], seq_len: int | None) -> int:
        return sequence_length(checked) if seq_len is None else seq_len

    def cosines(
        self, positions: Positions, seq_len: int | None = None, *, scale: float = 1.0
    ) -> Float[Tensor, "... head_dim"]:
        """The picture: cosine of the angle by which each dimension's pair is turned, float64.

        The first column of each pair's 2 × 2 matrix; 1 for dimensions that don't turn. It is the
        rotation of a vector whose pairs are all (1, 0), read back at both dimensions of each pair.
        """
        angles = self.angles(positions, seq_len, scale=scale)
        cosines = torch.ones(*angles.shape[:-1], self.head_dim, dtype=torch.float64)
        cosines[..., : self.rotary_dim] = self.per_dimension(angles.cos())
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

    def per_dimension(self, pairs: Float[Tensor, "... pairs"]) -> Float[Tensor, "... rotary_dim"]:
        """A value for each pair, written at both dimensions of the pair."""
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
        """Products of rotated queries and keys, both at the longer one's length."""
        both = (as_positions(query_positions), as_positions(key_positions))
        length = max(map(sequence_length, both))
        queries = self.rotate(q, both[0], length, scale=scale)
        keys = self.rotate(k, both[1], length, scale=scale)
        return softmax_scale * (queries @ keys.mT)
