"""How alike the positions of a table are: cosines, and how they fall with distance.

A cosine with a zero row is undefined. It is left out of every mean, and where nothing is left, the
result says so instead of being a number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from posembed_core.pictures.resolution import Span, choose_rows

_COLUMNS = 64  # of a table at a time, so that a large one's whole spectrum is never in memory


@dataclass(frozen=True, eq=False)
class Similarity:
    """Cosines between positions: those that its spans show.

    ``values`` are float64, in -1 … 1, and mean nothing where ``defined`` is false: where one of the
    two rows is zero.
    """

    values: Float[Tensor, "row_cells column_cells"]
    defined: Bool[Tensor, "row_cells column_cells"]

    def cells(self) -> Float[Tensor, "row_cells column_cells"]:
        """``values`` as a picture takes them: NaN, which has no colour, where undefined."""
        return self.values.masked_fill(~self.defined, torch.nan)


@dataclass(frozen=True, eq=False)
class Decay:
    """The mean cosine at each distance 0 … n - 1, float64, and over how many pairs it was taken.

    ``values`` mean nothing where ``pairs`` is 0.
    """

    values: Float[Tensor, " n"]
    pairs: Int[Tensor, " n"]


def centred(table: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """The table minus its mean row, float64: what all rows share tells no positions apart.

    >>> centred(torch.tensor([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """
    exact = table.to(torch.float64)
    deviations = exact - exact.mean(dim=0)
    # The mean of equal numbers may be off by rounding, far below float32's smallest step.
    deviations[deviations.abs() <= exact.abs().amax(dim=0) * 2.0**-45] = 0
    return deviations


def unit_rows(table: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"], Bool[Tensor, " n"]]:
    """Each row divided by its norm, float64, and whether it has one; zero rows stay zero.

    >>> units, defined = unit_rows(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    >>> units[0].tolist(), defined.tolist()
    ([0.6, 0.8], [True, False])
    """
    exact = table.to(torch.float64)
    norms = exact.norm(dim=1)
    return exact / torch.where(norms > 0, norms, 1.0)[:, None], norms > 0


def cosine_similarity(table: Float[Tensor, "n d"], rows: Span, columns: Span) -> Similarity:
    """Cosines between the positions that ``rows`` and ``columns`` show of the table.

    Those of the other positions are never computed, of 8192 × 8192 most.

    >>> from posembed_core.pictures.resolution import span
    >>> cosine_similarity(torch.eye(2), span(2, 2), span(2, 2)).cells().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    down, has_down = unit_rows(choose_rows(table, rows))
    across, has_across = unit_rows(choose_rows(table, columns))
    return Similarity(down @ across.T, has_down[:, None] & has_across)


def patch_similarity(table: Float[Tensor, "n d"]) -> Similarity:
    """Cosines between the patches of a vision model's table, as tiles laid out like the patches.

    Row r and column c of the grid of tiles is a map of how alike patch (r, c) is to every patch
    (Dosovitskiy et al. 2021, figure 7 centre). ``table`` must have only the rows of the patches:
    k² rows give a picture of k² × k² cells. Raises `ValueError` for any other number of rows.

    >>> patch_similarity(torch.eye(4)).cells().shape
    torch.Size([4, 4])
    """
    side = math.isqrt(table.shape[0])
    if side**2 != table.shape[0]:
        raise ValueError(f"patches must form a square, got {table.shape[0]} rows; leave out others")
    units, defined = unit_rows(table)
    # [(r c) (y x)] -> [(r y) (c x)]
    tiles = (units @ units.T).reshape(side, side, side, side).transpose(1, 2)
    both = (defined[:, None] & defined).reshape(side, side, side, side).transpose(1, 2)
    return Similarity(tiles.reshape(side**2, side**2), both.reshape(side**2, side**2))


def adjacent_cosine(table: Float[Tensor, "n d"]) -> float | None:
    """The mean cosine of each row and the next, None where no pair has one.

    >>> adjacent_cosine(torch.tensor([[1.0, 0.0], [2.0, 0.0]]))
    1.0
    """
    units, defined = unit_rows(table)
    both = defined[:-1] & defined[1:]
    if not both.any():
        return None
    return float((units[:-1] * units[1:]).sum(dim=1)[both].mean())


def distance_decay(table: Float[Tensor, "n d"]) -> Decay:
    """The mean cosine of all pairs of positions that lie k apart, for every k.

    The autocorrelation of the unit rows along the positions, by Wiener and Khinchin's theorem: of
    all n² pairs, in n log n steps.

    >>> distance_decay(torch.ones(3, 1)).pairs.tolist()
    [3, 2, 1]
    """
    units, defined = unit_rows(table)
    count = units.shape[0]
    sums = torch.zeros(count, dtype=torch.float64)
    for columns in torch.split(units, _COLUMNS, dim=1):
        sums += _autocorrelation(columns)
    pairs = _autocorrelation(defined[:, None].to(torch.float64)).round().to(torch.int64)
    return Decay(sums / pairs.clamp(min=1), pairs)


def _autocorrelation(columns: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    count = columns.shape[0]
    # Twice the length, so that the end doesn't meet the beginning.
    power = torch.fft.rfft(columns, n=2 * count, dim=0).abs().square().sum(dim=1)
    correlation: Tensor = torch.fft.irfft(power, n=2 * count)
    return correlation[:count]
