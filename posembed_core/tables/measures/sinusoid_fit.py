"""How far a table is from a sinusoidal one, over all bases and all ways to turn and scale it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.frequencies import inverse_frequencies, position_angles
from posembed_core.tables.measures.similarity import centred

# Exponents of the base, for half = d/2 frequencies: i/half (Vaswani et al. 2017, section 3.5), or
# i/(half - 1), so that the slowest is 1/base (tensor2tensor, fairseq, Whisper, MusicGen). Both are
# the same frequencies, at bases whose logarithms are as half to half - 1; a table of an odd width
# has one sine more in the first, a column of zeros in the second.
Spacing = Literal["i/half", "i/(half - 1)"]
SPACINGS: tuple[Spacing, ...] = ("i/half", "i/(half - 1)")

_LOWEST, _HIGHEST = math.log(1.5), math.log(1e12)
_FEW_ROWS = 64  # of the first, coarse search: few rows see no small change of a frequency
SEARCHED_ROWS = 512  # of the last one: of a longer table the first
_STEP = 0.1  # in ln base: closer than the optimum of so few rows is wide
_WIDE = 0.5  # in ln base, on all rows that are searched
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class SinusoidFit:
    """The nearest sinusoidal table: its ``base`` and ``spacing``, the ``distance`` in 0 … 1."""

    base: float
    distance: float
    spacing: Spacing = "i/half"


def sinusoid_distance(table: Float[Tensor, "n d"]) -> SinusoidFit | None:
    """The distance to the sinusoidal table of the same shape whose base and spacing fit best.

    `procrustes_distance` of the two. The base is searched between 1.5 and 1e12: on the first 64
    rows at every tenth of its logarithm, around the best one on more rows, and on up to 512 rows at
    every half, since a table that is no sinusoid has a wide optimum. Of bases that fit alike the
    roundest is given, with its spacing. A random table doesn't have distance 1, since any two
    tables of as many columns as rows can be turned into each other a good part of the way: compare
    with `sinusoid_distance` of noise of the same shape. None for a table of equal rows.

    >>> import posembed_core as pc
    >>> fit = sinusoid_distance(pc.create("sinusoidal", embed_dim=8, base=200.0).table(range(64)))
    >>> fit.base, round(fit.distance, 6), fit.spacing
    (200.0, 0.0, 'i/half')
    """
    rows, columns = table.shape
    exact = centred(table)
    if not exact.any():
        return None
    best: SinusoidFit | None = None
    for searched in SPACINGS[: 1 + columns % 2]:
        base, spacing = _fitted(exact[:SEARCHED_ROWS], searched)
        distance = procrustes_distance(exact, sinusoid(rows, columns, base, spacing))
        if distance is not None and (best is None or distance < best.distance - 1e-9):
            best = SinusoidFit(base, distance, spacing)
    return best


def sinusoid(rows: int, columns: int, base: float, spacing: Spacing) -> Float[Tensor, "n d"]:
    """All sines, then all cosines, float64; the order makes no difference to the distance.

    An odd number of columns has one sine more, or, as in tensor2tensor, a column of zeros.

    >>> sinusoid(2, 4, 100.0, "i/(half - 1)")[1]
    tensor([0.8415, 0.0100, 0.5403, 1.0000], dtype=torch.float64)
    """
    positions = torch.arange(rows)
    if spacing == "i/half":
        angles = position_angles(positions, inverse_frequencies(columns, base))
        return torch.cat((angles.sin(), angles[:, : columns // 2].cos()), dim=1)
    half = columns // 2
    exponents = torch.arange(half, dtype=torch.float64) / max(half - 1, 1)
    angles = position_angles(positions, torch.pow(base, -exponents))
    zeros = angles.new_zeros(rows, columns % 2)
    return torch.cat((angles.sin(), angles.cos(), zeros), dim=1)


def _fitted(table: Float[Tensor, "n d"], spacing: Spacing) -> tuple[float, Spacing]:
    """The base and spacing of the nearest sinusoid, the roundest of those that fit alike."""
    rows = min(_FEW_ROWS, len(table))
    likeness = _likeness(table[:rows], spacing)
    highest = _HIGHEST * _ratio(table.shape[1])
    middle, width = _best(likeness, highest, _STEP), _STEP
    middle, width = _narrowed(likeness, middle, width, 1 / rows)
    # With twice the rows an optimum is half as wide: each search begins inside the next one.
    while rows < len(table):
        rows = min(2 * rows, len(table))
        likeness = _likeness(table[:rows], spacing)
        middle, width = _narrowed(likeness, middle, 2 * width, 1 / rows)
    # What resembles a sinusoid from afar only has a wide optimum, which few rows needn't see.
    wide = _best(likeness, highest, _WIDE)
    if likeness(wide) > likeness(middle):
        middle, width = _narrowed(likeness, wide, _WIDE, _STEP)
    for _ in range(3):
        middle = _vertex(likeness, middle, width)
        width /= 8
    return _rounded(likeness, math.exp(middle), table.shape[1], spacing)


def _ratio(columns: int) -> float:
    """How the logarithms of the two spacings' bases are to each other for the same frequencies."""
    half = columns // 2
    return half / (half - 1) if half > 1 else 1.0


def _rounded(
    likeness: Callable[[float], float], base: float, columns: int, spacing: Spacing
) -> tuple[float, Spacing]:
    """The same sinusoid at a base with fewer digits, in either spacing, where there is one."""
    least = likeness(math.log(base)) * (1 - 1e-8)
    powers: dict[Spacing, float] = {"i/half": 1.0, "i/(half - 1)": _ratio(columns)}
    if columns % 2 or columns == 2:
        powers = {spacing: 1.0}
    for digits in range(1, 6):
        for name, power in powers.items():
            if name != spacing and digits > 2:
                continue  # no base that somebody chose
            rounded = float(f"{base ** (1 / power):.{digits - 1}e}")
            if rounded > 1 and likeness(power * math.log(rounded)) >= least:
                return rounded, name
    return base, spacing


def _likeness(table: Float[Tensor, "n d"], spacing: Spacing) -> Callable[[float], float]:
    """Ln base → ‖AᵀB‖⋆ / ‖B‖, which is greatest where the Procrustes distance is least.

    The singular values of AᵀB are those of RB, with A = QR and as few rows as A has columns: the
    roots of the eigenvalues of a small matrix, right to 1e-8.
    """
    rows, columns = table.shape
    triangle = torch.linalg.qr((table - table.mean(dim=0)).T, mode="r").R  # AᵀA's root, r × n

    def value(log_base: float) -> float:
        waves = centred(sinusoid(rows, columns, math.exp(log_base), spacing))
        product = triangle @ waves
        small = product @ product.T if len(product) <= product.shape[1] else product.T @ product
        nuclear = torch.linalg.eigvalsh(small).clamp(min=0).sqrt().sum()
        norm = waves.norm()
        return float(nuclear / norm) if norm else 0.0

    return value


def _best(value: Callable[[float], float], highest: float, step: float) -> float:
    logs: list[float] = torch.arange(_LOWEST, highest, step).tolist()
    return max(logs, key=value)


def _narrowed(
    value: Callable[[float], float], middle: float, width: float, until: float
) -> tuple[float, float]:
    """Where the greatest value is, and how far it may be from there: a golden-section search."""
    low, high = middle - width, middle + width
    first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_first, at_second = value(first), value(second)
    while high - low > until:
        if at_first > at_second:
            high, second, at_second = second, first, at_first
            first = high - _GOLDEN * (high - low)
            at_first = value(first)
        else:
            low, first, at_first = first, second, at_second
            second = low + _GOLDEN * (high - low)
            at_second = value(second)
    return (low + high) / 2, (high - low) / 2


def _vertex(value: Callable[[float], float], middle: float, width: float) -> float:
    """Where the parabola through three values is highest; the middle where it has no top."""
    left, top, right = (value(middle + step * width) for step in (-1, 0, 1))
    bend = 2 * top - left - right
    step = (right - left) / (2 * bend) if bend > 0 else 0.0
    return middle + width * max(-1.0, min(1.0, step))


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
