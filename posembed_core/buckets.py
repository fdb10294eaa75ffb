"""From distances to table rows: buckets that widen with the logarithm, and the lookup.

Buckets are decided with whole numbers. Reference implementations take logarithms in float32 and
round, which can put a boundary on the wrong side. A power of a whole number is exact:
n >= a (b / a)^(k / w) where n^w a^k >= b^k a^w.
"""

from __future__ import annotations

import functools

import torch
from jaxtyping import Float, Int
from torch import Tensor


def widening_buckets(
    distances: Int[Tensor, "*shape"], num_buckets: int, max_distance: int
) -> Int[Tensor, "*shape"]:
    """T5's buckets of one direction, for distances from 0 on (Raffel et al. 2020, section 2.1).

    The first ``E = num_buckets // 2`` are single distances; beyond them the bucket is
    ``E + floor(ln(n / E) / ln(max_distance / E) (num_buckets - E))``, the last one at most.

    >>> widening_buckets(torch.tensor([0, 1, 7, 8, 100, 10**6]), 16, 128).tolist()
    [0, 1, 7, 8, 15, 15]
    """
    starts = torch.tensor(_starts(num_buckets, max_distance))
    return torch.bucketize(distances, starts, right=True)


@functools.lru_cache
def _starts(num_buckets: int, max_distance: int) -> tuple[int, ...]:
    """The least distance of bucket 1, 2 … num_buckets - 1."""
    single = num_buckets // 2
    wide = num_buckets - single
    starts = list(range(1, single + 1))
    for k in range(1, wide):
        least = max_distance**k * single**wide
        n = int(single * (max_distance / single) ** (k / wide)) - 1
        while n**wide * single**k < least:
            n += 1
        starts.append(n)
    return tuple(starts)


def signed_log_buckets(
    relative: Int[Tensor, "*shape"], num_buckets: int, max_distance: int
) -> Int[Tensor, "*shape"]:
    """DeBERTa's buckets from version 2 on (transformers' ``make_log_bucket_position``).

    Up to ``m = num_buckets // 2`` the distance itself, then
    ``ceil((m - 1) ln(n / m) / ln((max_distance - 1) / m)) + m``, with the sign of ``relative``.
    Never beyond ``num_buckets``: the reference lets buckets grow and clips at the row lookup.

    >>> signed_log_buckets(torch.tensor([-300, -1, 0, 1, 300]), 256, 512).tolist()
    [-207, -1, 0, 1, 207]
    """
    ends = torch.tensor(_ends(num_buckets, max_distance))
    far = torch.bucketize(relative.abs(), ends) + num_buckets // 2
    return torch.where(relative.abs() <= num_buckets // 2, relative, far * relative.sign())


@functools.lru_cache
def _ends(num_buckets: int, max_distance: int) -> tuple[int, ...]:
    """The greatest distance of bucket m, m + 1 … num_buckets - 1."""
    middle, greatest = num_buckets // 2, max_distance - 1
    ends = []
    for c in range(num_buckets - middle):
        # An odd num_buckets has c = m at last; both sides then carry one factor m more.
        spare = max(0, c - middle + 1)
        most = greatest**c * middle ** (middle - 1 - c + spare)
        n = int(middle * (greatest / middle) ** (c / (middle - 1))) + 1
        while n ** (middle - 1) * middle**spare > most:
            n -= 1
        ends.append(n)
    return tuple(ends)


def look_up(
    by_row: Float[Tensor, "*batch n rows"], rows: Int[Tensor, "n columns"]
) -> Float[Tensor, "*batch n columns"]:
    """For each line of ``by_row`` the entries that the same line of ``rows`` names.

    With ``by_row = q @ table.T`` this is q·table[rows] without a vector for each pair.

    >>> by_row = torch.tensor([[10.0, 20.0], [1.0, 2.0]])
    >>> look_up(by_row, torch.tensor([[0, 1], [1, 1]])).tolist()
    [[10.0, 20.0], [2.0, 2.0]]
    """
    return by_row.gather(-1, rows.expand(*by_row.shape[:-1], rows.shape[-1]))
