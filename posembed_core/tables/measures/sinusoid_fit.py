"""How far a table is from a sinusoidal one, over all ways to turn and scale that one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.frequencies import inverse_frequencies, position_angles
from posembed_core.tables.measures.similarity import centred

BASES = (10.0, 100.0, 1000.0, 10_000.0, 100_000.0)


@dataclass(frozen=True)
class SinusoidFit:
    """The nearest of some sinusoidal tables: its ``base``, and the ``distance`` in 0 … 1."""

    base: float
    distance: float


def sinusoid_distance(
    table: Float[Tensor, "n d"], bases: Sequence[float] = BASES
) -> SinusoidFit | None:
    """The distance to the sinusoidal table of the same shape whose base fits best.

    `procrustes_distance` of the two. A random table doesn't have distance 1, since any two tables
    of as many columns as rows can be turned into each other a good part of the way: compare with
    `sinusoid_distance` of noise of the same shape. None for a table of equal rows.

    >>> import posembed_core as pc
    >>> fit = sinusoid_distance(pc.create("sinusoidal", embed_dim=8).table(range(64)))
    >>> fit.base, round(fit.distance, 6)
    (10000.0, 0.0)
    """
    exact = table.to(torch.float64)
    count, width = table.shape
    positions = torch.arange(count)
    best: SinusoidFit | None = None
    for base in bases:
        angles = position_angles(positions, inverse_frequencies(width, base))
        # The order of the columns makes no difference to the distance.
        waves = torch.cat((angles.sin(), angles[:, : width // 2].cos()), dim=1)
        distance = procrustes_distance(exact, waves)
        if distance is not None and (best is None or distance < best.distance):
            best = SinusoidFit(base, distance)
    return best


def procrustes_distance(first: Float[Tensor, "n d"], second: Float[Tensor, "n d"]) -> float | None:
    """Least ‖A - s B Q‖² / ‖A‖² over scales s and orthogonal Q, of both tables minus their means.

    1 - ‖AᵀB‖⋆² / (‖A‖² ‖B‖²), with the nuclear norm ⋆, the others Frobenius norms: symmetric, 0
    for tables that differ by a rotation, a reflection (so also by the order or the signs of
    columns), a shift and a scale; 1 for tables with nothing in common. None where one has no
    variance. Schönemann 1966, A generalized solution of the orthogonal Procrustes problem.

    >>> table = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> round(procrustes_distance(table, 5 * table.flip(1)), 9)
    0.0
    """
    a, b = centred(first), centred(second)
    squares = a.square().sum() * b.square().sum()
    if squares == 0:
        return None
    nuclear = torch.linalg.svdvals(a.T @ b).sum()
    return max(0.0, float(1 - nuclear.square() / squares))
