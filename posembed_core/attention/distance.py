"""Score against distance: what an encoding says, and what a formula claims for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    BiasEncoding,
    Encoding,
    EncodingError,
    Positions,
    RotaryEncoding,
    as_positions,
    seeded_normal,
)
from posembed_core.frequencies import position_angles
from posembed_core.positions import sequence_length

_DRAWS_AT_ONCE = 16  # each has a key at every distance


def scores_at_distances(
    encoding: Encoding,
    q: Float[Tensor, "... head_dim"],
    k: Float[Tensor, "... head_dim"],
    distances: Positions,
    *,
    softmax_scale: float = 1.0,
) -> Float[Tensor, "... distances"]:
    """The score of query q with key k, for a key ``distances`` tokens before the query.

    ``softmax_scale`` multiplies the same terms as in attention. The query stands at the greatest
    distance, so that no key has a negative position. Where a score depends on the other keys (CoPE
    counts them), a key stands at every distance, the same at each. For a score bias the axis before
    the last is the head, as in ``scores``.

    >>> import posembed_core as pc
    >>> alibi = pc.create("alibi", num_heads=2)
    >>> zeros = torch.zeros(2, 4)
    >>> scores_at_distances(alibi, zeros, zeros, [0, 1, 16])[0].tolist()
    [0.0, -0.0625, -1.0]
    """
    asked = as_positions(distances)
    query_position = asked.max().clamp(min=0)
    back = torch.arange(int(query_position) + 1) if encoding.counts_keys else asked
    keys = k.unsqueeze(-2).expand(*k.shape[:-1], len(back), k.shape[-1])
    positions = query_position[None], query_position - back
    scores = encoding.scores(q.unsqueeze(-2), keys, *positions, softmax_scale=softmax_scale)
    scores = scores.squeeze(-2)
    return scores[..., asked] if encoding.counts_keys else scores


@dataclass(frozen=True, eq=False)
class RandomScores:
    """Mean score of random queries and keys at each distance, and the mean's standard error."""

    mean: Float[Tensor, "... distances"]
    standard_error: Float[Tensor, "... distances"]


def random_scores_at_distances(
    encoding: Encoding,
    width: int,
    distances: Positions,
    *,
    draws: int = 256,
    seed: int = 0,
    softmax_scale: float = 1.0,
) -> RandomScores:
    """Scores of ``draws`` independent standard normal queries and keys, averaged.

    For RoPE the mean is 0 at every distance, not only far away (Barbero et al. 2025, propositions
    3.1 and 3.2): nothing decays where queries and keys don't agree.

    >>> import posembed_core as pc
    >>> rope = pc.create("rope", head_dim=8)
    >>> random = random_scores_at_distances(rope, 8, [0, 10], draws=2000)
    >>> (random.mean.abs() < 4 * random.standard_error).tolist()
    [True, True]
    """
    vectors = seeded_normal(2 * draws, width, seed).to(torch.float64)
    q, k = vectors[:draws], vectors[draws:]
    if isinstance(encoding, BiasEncoding):
        q, k = (x.unsqueeze(1).expand(-1, encoding.num_heads, -1) for x in (q, k))
    pieces = zip(q.split(_DRAWS_AT_ONCE), k.split(_DRAWS_AT_ONCE), strict=True)
    scores = torch.cat(
        [
            scores_at_distances(encoding, *piece, distances, softmax_scale=softmax_scale)
            for piece in pieces
        ]
    )
    return RandomScores(scores.mean(0), scores.std(0) / math.sqrt(draws))


def rotary_bound(
    encoding: RotaryEncoding, distances: Positions, *, scale: float = 1.0
) -> Float[Tensor, " distances"]:
    """(2/d) Σ_j |S_j| with S_j = Σ_{m<j} exp(i n ω_m) at each distance n, float64.

    Su et al. 2021, section 3.4.3, eq. 37: the score of any q and k is at most this times the
    greatest jump between the products of neighbouring pairs. The bound falls with distance, though
    not steadily; the score itself need not fall.

    >>> import posembed_core as pc
    >>> rotary_bound(pc.create("rope", head_dim=64), [0]).item()  # (1 + … + 32) / 32
    16.5
    """
    back = as_positions(distances)
    angles = position_angles(back, encoding.inv_freq(sequence_length(back)), scale)
    partial = torch.complex(angles.cos(), angles.sin()).cumsum(-1)
    return partial.abs().mean(-1)


def mean_cosine(
    encoding: RotaryEncoding, distances: Positions, *, scale: float = 1.0
) -> Float[Tensor, " distances"]:
    """The mean of cos(n ω_m) over pairs: the score of q = k = ones, divided by its value at 0.

    >>> import posembed_core as pc
    >>> mean_cosine(pc.create("rope", head_dim=2), [0, 1])
    tensor([1.0000, 0.5403], dtype=torch.float64)
    """
    back = as_positions(distances)
    angles = position_angles(back, encoding.inv_freq(sequence_length(back)), scale)
    return angles.cos().mean(-1)


def half_lives(slopes: Float[Tensor, " num_heads"]) -> Float[Tensor, " num_heads"]:
    """The distance in tokens at which a linear bias halves a weight: ``ln 2 / slope`` (ALiBi).

    >>> [round(tokens, 3) for tokens in half_lives(torch.tensor([0.5, 0.25])).tolist()]
    [1.386, 2.773]
    """
    return slopes.reciprocal() * math.log(2.0)


def measured_half_lives(
    encoding: BiasEncoding, *, longest: int = 8192, scale: float = 1.0
) -> Float[Tensor, " num_heads"]:
    """The distance at which each head's bias first lies ln 2 below its value at distance 0.

    Interpolated between whole distances. Infinite where the bias doesn't fall that far within
    ``longest`` tokens (always so if it doesn't fall with distance).

    >>> import posembed_core as pc
    >>> alibi = pc.create("alibi", num_heads=2)
    >>> [round(tokens, 1) for tokens in measured_half_lives(alibi, longest=500).tolist()]
    [11.1, 177.4]
    """
    if longest < 1:
        raise EncodingError(f"longest must be at least 1, got {longest}; try 8192", field="longest")
    back = torch.arange(longest + 1)
    bias = scale * encoding.bias([longest], longest - back)[:, 0].to(torch.float64)
    fallen = bias[:, :1] - bias >= math.log(2.0)
    # argmax finds the first True; a head without any gets 0.
    first = fallen.to(torch.int8).argmax(-1, keepdim=True)
    before = (first - 1).clamp(min=0)
    high, low = bias.gather(-1, before), bias.gather(-1, first)
    target = bias[:, :1] - math.log(2.0)
    exact = before + (high - target) / (high - low)
    return torch.where(fallen.any(-1), exact[:, 0], torch.inf)
