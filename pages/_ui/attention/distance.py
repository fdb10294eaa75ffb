"""Score against distance for any encoding: curves, and claims beside their computation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pages._ui.numbers import written
from pages._ui.server.kept import kept
from posembed_core import AdditiveEncoding, BiasEncoding, Encoding, RotaryEncoding
from posembed_core.attention.distance import (
    RandomScores,
    half_lives,
    mean_cosine,
    measured_half_lives,
    random_scores_at_distances,
    rotary_bound,
    scores_at_distances,
)

FARTHEST = 511  # the last distance in a table of 512 rows
DRAWS = 256
DISTANCES = range(FARTHEST + 1)
_ASKED = (1, 10, 100)


@dataclass(frozen=True)
class Claim:
    """What is claimed for an encoding, and what was computed."""

    what: str
    claimed: str
    computed: str
    difference: str


@kept()
def same_vector(encoding: Encoding, head: int) -> Float[Tensor, " distances"]:
    """The score of q = k at each of `DISTANCES`, float64, with the encoding's softmax scale.

    q and k are all ones; all zeros where position acts without them: for an additive encoding,
    whose curve is p_i · p_j, and for a bias.
    """
    return _scores(encoding, head, DISTANCES)


@kept()
def random_vectors(encoding: Encoding, head: int) -> RandomScores:
    """Mean score of independent random q and k at each of `DISTANCES`, and its standard error."""
    width = width_of(encoding)
    scores = random_scores_at_distances(
        encoding, width, DISTANCES, draws=DRAWS, softmax_scale=encoding.softmax_scale(width)
    )
    if isinstance(encoding, BiasEncoding):
        return RandomScores(scores.mean[head], scores.standard_error[head])
    return scores


@kept()
def bound(encoding: RotaryEncoding) -> Float[Tensor, " distances"]:
    """RoPE's bound at each of `DISTANCES`, of a score of 1 at 0, of the dimensions that turn."""
    return rotary_bound(encoding, DISTANCES)


@kept()
def turning(encoding: RotaryEncoding) -> Float[Tensor, " distances"]:
    """`same_vector` of the dimensions that turn alone: the others' share is the same everywhere."""
    vector = torch.zeros(encoding.head_dim, dtype=torch.float64)
    vector[: encoding.rotary_dim] = 1.0
    factor = encoding.softmax_scale(encoding.head_dim)
    return scores_at_distances(encoding, vector, vector, DISTANCES, softmax_scale=factor)


@kept()
def claims(encoding: Encoding, head: int) -> Sequence[Claim]:
    """What is claimed for this encoding's family, each with its computation."""
    if isinstance(encoding, RotaryEncoding):
        return _rotary_claims(encoding)
    if isinstance(encoding, BiasEncoding):
        return _bias_claims(encoding, head)
    return ()


def _rotary_claims(encoding: RotaryEncoding) -> Sequence[Claim]:
    ratios = turning(encoding) / turning(encoding)[0]
    whole = encoding.rotary_dim == encoding.head_dim
    those = "" if whole else f" on the {encoding.rotary_dim} dimensions that turn"
    cosines = mean_cosine(encoding, DISTANCES)
    rows = []
    for distance in _ASKED:
        at = DISTANCES.index(distance)
        claimed, computed = float(cosines[at]), float(ratios[at])
        rows.append(
            Claim(
                f"q = k{those}, {distance} apart: the mean of cos(nω) over pairs (rotation alone)",
                written(claimed, ".6f"),
                written(computed, ".6f"),
                _difference(computed - claimed),
            )
        )
    room = bound(encoding) - ratios.abs()
    rows.append(
        Claim(
            f"q = k{those}: never above the bound of Su et al. 2021, eq. 37 ({len(DISTANCES)} "
            "distances)",
            "bound − |score| ≥ 0",
            f"at least {written(room.min(), '.3g')}",
            "holds" if float(room.min()) > -1e-9 else "does not hold",
        )
    )
    scores = random_vectors(encoding, 0)
    worst = float((scores.mean / scores.standard_error).abs().max())
    rows.append(
        Claim(
            f"independent q and k: mean 0 at every distance, so nothing decays ({DRAWS} draws)",
            "0",
            f"greatest |mean| {written(scores.mean.abs().max(), '.3g')}",
            f"{written(worst, '.1f')} standard errors",
        )
    )
    return rows


def _bias_claims(encoding: BiasEncoding, head: int) -> Sequence[Claim]:
    measured = float(measured_half_lives(encoding)[head])
    first = 0 if math.isinf(measured) else math.ceil(measured - 1e-6)
    computed = f"first at {first:,} tokens" if first else "none within 8,192"
    claimed = difference = "none"
    if hasattr(encoding, "slopes"):  # a straight line: right between whole distances, too
        expected = float(half_lives(encoding.slopes)[head])
        claimed = f"ln 2 / m = {written(expected, '.4f')} tokens"
        computed = f"{written(measured, '.4f')} tokens" if first else computed
        difference = _difference(measured - expected)
    elif encoding.half_lives is not None:
        expected = float(encoding.half_lives[head])
        claimed = f"by the kernel {written(expected, ',.4f')} tokens"
        agrees = first - 1 - 1e-4 < expected < first + 1e-4 if first else expected > 8192
        difference = "agrees" if agrees else "does not agree"
    rows = [Claim(f"half-life of a weight, head {head + 1}", claimed, computed, difference)]
    if hasattr(encoding, "buckets"):
        rows.append(_bucket_claim(encoding))
    return rows


def _bucket_claim(encoding: Any) -> Claim:
    far = 2 * encoding.max_distance
    buckets = encoding.buckets([far], [far - back for back in range(far + 1)])[0].tolist()
    starts = [back for back in range(far + 1) if back == 0 or buckets[back] != buckets[back - 1]]
    single = next((back for back in range(far) if buckets[back] == buckets[back + 1]), far)
    ranges = [
        f"{start}–{stop - 1}" for start, stop in itertools.pairwise(starts) if start >= single
    ]
    return Claim(
        "buckets of keys before the query",
        f"one distance each, then more; all from {encoding.max_distance} on share the last",
        f"0 to {single - 1} one each; {', '.join(ranges)}; from {starts[-1]} on the last",
        f"{len(starts)} buckets",
    )


def _difference(value: float) -> str:
    return written(value, ".1e") if value else "0"


def _scores(encoding: Encoding, head: int, distances: Sequence[int]) -> Tensor:
    width = width_of(encoding)
    value = 0.0 if isinstance(encoding, AdditiveEncoding | BiasEncoding) else 1.0
    # A bias has a number for each head, so it needs as many queries and keys.
    heads = (encoding.num_heads,) if isinstance(encoding, BiasEncoding) else ()
    vector = torch.full((*heads, width), value, dtype=torch.float64)
    factor = encoding.softmax_scale(width)
    scores = scores_at_distances(encoding, vector, vector, list(distances), softmax_scale=factor)
    return scores[head] if heads else scores


def width_of(encoding: Encoding) -> int:
    """How wide q and k are, without a layer around them."""
    width = getattr(encoding, "embed_dim", None) or getattr(encoding, "head_dim", None)
    return int(width) if width else 32
