"""What a RoPE scaling does to each pair of dimensions, and to scores at any distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.base import RotaryEncoding
from posembed_core.frequencies import inverse_frequencies
from posembed_core.parameters import EncodingError

MAX_DISTANCE = 2**24
KINDS = ("untouched", "blended", "interpolated", "still")
# Frequencies within this relative distance count as equal; it is far above float64's rounding.
_SAME = 1e-9


@dataclass(frozen=True)
class PairTable:
    """Each pair of dimensions before and after a scaling, for a sequence of ``length`` tokens.

    Frequencies in radians per position, wavelengths in positions. ``kind`` says what the scaling
    does to the pair: "untouched"; "interpolated", slowed as much as the scaling slows any pair;
    "blended", anything between; "still", not turning at all.
    """

    length: int | None
    before: Float[Tensor, " pairs"]
    after: Float[Tensor, " pairs"]
    kind: tuple[str, ...]

    @property
    def wavelength_before(self) -> Float[Tensor, " pairs"]:
        """Positions for one turn, without the scaling."""
        return 2 * math.pi / self.before

    @property
    def wavelength_after(self) -> Float[Tensor, " pairs"]:
        """Positions for one turn, with the scaling."""
        return 2 * math.pi / self.after

    def turns(self, length: int) -> tuple[Float[Tensor, " pairs"], Float[Tensor, " pairs"]]:
        """How many turns each pair makes over ``length`` positions, before and after."""
        return length / self.wavelength_before, length / self.wavelength_after

    def phases(self, position: int) -> tuple[Float[Tensor, " pairs"], Float[Tensor, " pairs"]]:
        """The angle at ``position``, before and after, in [0, 2π)."""
        return (position * self.before) % (2 * math.pi), (position * self.after) % (2 * math.pi)

    def seen(self, length: int) -> Float[Tensor, " pairs"]:
        """The greatest unscaled angle of each pair over ``length`` positions, at most one turn."""
        return (length * self.before).clamp(max=2 * math.pi)


def pair_table(encoding: RotaryEncoding, length: int | None = None) -> PairTable:
    """The pairs of plain RoPE and of ``encoding`` at ``length``; None means within the trained.

    >>> import posembed_core as pc
    >>> pair_table(pc.create("rope-linear", head_dim=4, factor=2)).kind
    ('interpolated', 'interpolated')
    """
    before = inverse_frequencies(encoding.rotary_dim, encoding.base)
    after = encoding.inv_freq(length)
    whole = encoding.stretch(length)
    kind = tuple(_kind(by, whole) for by in (before / after).tolist())
    return PairTable(length, before, after, kind)


def _kind(slowed: float, whole: float) -> str:
    if math.isinf(slowed):
        return KINDS[3]
    if abs(slowed - 1) <= _SAME:
        return KINDS[0]
    return KINDS[2] if slowed >= whole * (1 - _SAME) > 1 else KINDS[1]


def incomplete_pairs(inv_freq: Float[Tensor, " pairs"], length: int) -> int:
    """How many pairs don't complete one turn over ``length`` positions.

    >>> incomplete_pairs(torch.tensor([1.0, 0.01, 0.0001]), 4096)
    1
    """
    return int((length * inv_freq < 2 * math.pi).sum())


def distance_edges(max_distance: int, cells: int) -> Int[Tensor, " edges"]:
    """The borders of at most ``cells`` cells over 0 … max_distance, equal on a logarithmic scale.

    Whole numbers, each at least one apart: small distances have a cell of their own.

    >>> distance_edges(8, 4).tolist()
    [0, 1, 2, 4, 8]
    """
    if not 1 <= max_distance <= MAX_DISTANCE:
        raise EncodingError(
            f"the distance must be between 1 and {MAX_DISTANCE:,}, got {max_distance:,}",
            field="max_distance",
            nearest=min(max(max_distance, 1), MAX_DISTANCE),
        )
    steps = torch.linspace(0, math.log2(max_distance + 1), cells + 1, dtype=torch.float64)
    edges: Tensor = torch.unique((steps.exp2() - 1).round().to(torch.int64))
    return edges


def mean_score(
    inv_freq: Float[Tensor, " pairs"],
    edges: Int[Tensor, " edges"],
    attention_factor: float = 1.0,
) -> Float[Tensor, " cells"]:
    """The score of a query and a key of all ones against their distance, 1 at distance 0.

    ``mean over pairs of cos(distance * inv_freq)``, times the attention factor squared; each cell
    is the mean over the distances ``edges[i] … edges[i + 1] - 1``. In closed form, so that the
    cost depends on the cells, not on a million distances: a sum of cosines at equal steps is
    ``cos(middle * w) * sin(n * w / 2) / sin(w / 2)`` (Dirichlet's kernel). float64.

    >>> mean_score(torch.tensor([0.0], dtype=torch.float64), distance_edges(8, 4), 1.5).tolist()
    [2.25, 2.25, 2.25, 2.25]
    """
    start, count = edges[:-1].to(torch.float64), edges.diff().to(torch.float64)
    half = inv_freq.unsqueeze(-1) / 2
    middle = 2 * start + count - 1
    # A frequency of 0 (a pair that doesn't turn) has cos = 1 at every distance.
    kernel = torch.where(half.sin() == 0, 1.0, (count * half).sin() / (count * half.sin()))
    mean: Tensor = (kernel * (middle * half).cos()).mean(dim=0)
    return mean * (attention_factor * attention_factor)
