"""Ways to extend a table that is too short: more rows, interpolated rows, or a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from posembed_core.base import MAX_LENGTH, AdditiveEncoding
from posembed_core.parameters import Integer
from posembed_core.seeded import seeded_normal

Way = Literal["untrained", "interpolated", "formula"]


@dataclass(frozen=True, eq=False)
class Extended:
    """A longer table, and which of its rows are rows of the original, unchanged."""

    weight: Float[Tensor, "new_len d"]
    original: Bool[Tensor, " new_len"]
    way: Way


def longer(table: Float[Tensor, "n d"], length: int, seed: int = 0) -> Extended:
    """The table with rows added that nothing has trained: random, as far from 0 as the old ones.

    Each new row is normal with the standard deviation of the table's entries. Raises
    `EncodingError` for a length below the table's or above 8192.

    >>> longer(torch.ones(2, 3), 4).original.tolist()
    [True, True, False, False]
    """
    rows, width = table.shape
    added = _checked(length, rows) - rows
    std = table.to(torch.float64).std(correction=0).item()
    fresh = seeded_normal(added, width, seed, std).to(table.dtype)
    return Extended(torch.cat((table, fresh)), torch.arange(length) < rows, "untrained")


def interpolated(table: Float[Tensor, "n d"], length: int) -> Extended:
    """The table stretched to ``length`` rows, each on the line between its two nearest ones.

    New row i stands at i (n - 1) / (length - 1) of the old ones, so that the first and the last
    stay (``align_corners=True`` of torch's interpolate): positions move, but none lies outside the
    trained range. ViT stretches its grid likewise for larger images (Dosovitskiy et al. 2021,
    section 3.2), there with ``align_corners=False``. Raises `EncodingError` as `longer` does.

    >>> interpolated(torch.tensor([[0.0], [1.0]]), 3).weight.tolist()
    [[0.0], [0.5], [1.0]]
    """
    rows = table.shape[0]
    _checked(length, rows)
    # Whole numbers until the one division, so that a row that falls on an old row equals it.
    place = torch.arange(length) * (rows - 1)
    last = max(length - 1, 1)
    low = place // last
    part = ((place % last).to(torch.float64) / last)[:, None]
    high = (low + 1).clamp(max=rows - 1)
    exact = table.to(torch.float64)
    weight = (exact[low] * (1 - part) + exact[high] * part).to(table.dtype)
    return Extended(weight, place % last == 0, "interpolated")


def by_formula(table: Float[Tensor, "n d"], length: int, encoding: AdditiveEncoding) -> Extended:
    """The table's rows, then those of a formula that has a vector for every position.

    The model has never seen the new ones, and they needn't fit the old ones in any way. Raises
    `EncodingError` as `longer` does.

    >>> import posembed_core as pc
    >>> by_formula(torch.ones(1, 2), 2, pc.create("sinusoidal", embed_dim=2)).weight[0].tolist()
    [1.0, 1.0]
    """
    rows = table.shape[0]
    _checked(length, rows)
    fresh = encoding.table(torch.arange(rows, length), table.dtype)
    return Extended(torch.cat((table, fresh)), torch.arange(length) < rows, "formula")


def _checked(length: int, rows: int) -> int:
    return int(Integer("Length", low=rows, high=MAX_LENGTH).check("length", length))
