"""What rounding does to positions and angles: float32, bfloat16 and float16 against float64."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.parameters import EncodingError

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
# Angles of this many positions and pairs are computed at a time: 4 MB in float64.
_PIECE = 2**19


@dataclass(frozen=True)
class Arithmetic:
    """The types in which a program computes positions, inverse frequencies, their product and cos.

    The product and its cos are both computed in ``angles``, as torch does on a CPU or a GPU.
    """

    title: str
    positions: torch.dtype
    inv_freq: torch.dtype
    angles: torch.dtype


ARITHMETICS: dict[str, Arithmetic] = {
    "float32": Arithmetic("all in float32", torch.float32, torch.float32, torch.float32),
    "inv_freq-bfloat16": Arithmetic(
        "inv_freq cast to bfloat16, the rest float32",
        torch.float32,
        torch.bfloat16,
        torch.float32,
    ),
    "inv_freq-float16": Arithmetic(
        "inv_freq cast to float16, the rest float32",
        torch.float32,
        torch.float16,
        torch.float32,
    ),
    "bfloat16": Arithmetic("all in bfloat16", torch.bfloat16, torch.bfloat16, torch.bfloat16),
    "float16": Arithmetic("all in float16", torch.float16, torch.float16, torch.float16),
}


def rounded(
    values: Int[Tensor, "..."] | Float[Tensor, "..."], dtype: torch.dtype
) -> Float[Tensor, "..."]:
    """``values`` after a cast to ``dtype`` and back to float64; infinite where it overflows.

    >>> rounded(torch.tensor([256, 257, 258]), torch.bfloat16).tolist()
    [256.0, 256.0, 258.0]
    """
    return values.to(torch.float64).to(dtype).to(torch.float64)


def exact_until(dtype: torch.dtype) -> int:
    """The greatest n for which every position 0 … n is exact: bfloat16 256, float16 2048.

    >>> exact_until(torch.bfloat16), exact_until(torch.float16)
    (256, 2048)
    """
    return round(2 / torch.finfo(dtype).eps)


def first_collision(dtype: torch.dtype) -> tuple[int, int]:
    """The first position that rounds to another, and that other: in bfloat16, 257 becomes 256.

    >>> first_collision(torch.bfloat16)
    (257, 256)
    """
    position = exact_until(dtype) + 1
    return position, int(rounded(torch.tensor(position), dtype))


def distinct_positions(length: int, dtype: torch.dtype) -> int:
    """How many different values the positions 0 … length - 1 have in ``dtype``.

    Past 2^k every 2^(k-p)-th integer is a value, p being the bits of the significand; everything
    that overflows shares one more value, infinity.

    >>> distinct_positions(131072, torch.bfloat16)
    1409
    """
    if length < 1:
        raise EncodingError(f"length must be at least 1, got {length}", field="length", nearest=1)
    exact = exact_until(dtype)
    if length <= exact + 1:
        return length
    last = rounded(torch.tensor(length - 1), dtype)
    overflows = bool(last.isinf())
    if overflows:
        last = torch.tensor(torch.finfo(dtype).max, dtype=torch.float64)
    count, start, step = exact + 1, exact, 2
    while start < last:
        stop = min(2 * start, int(last))
        count += (stop - start) // step
        start, step = 2 * start, 2 * step
    return count + overflows


def angles(
    inv_freq: Float[Tensor, " pairs"], positions: Int[Tensor, " n"], arithmetic: Arithmetic
) -> Float[Tensor, "n pairs"]:
    """The angles as a program computes them, in radians, in the type that it takes cos of.

    >>> angles(torch.tensor([1.0]).double(), torch.tensor([257]), ARITHMETICS["bfloat16"]).item()
    256.0
    """
    rounded_positions = positions.to(arithmetic.positions).to(arithmetic.angles)
    return rounded_positions.unsqueeze(-1) * inv_freq.to(arithmetic.inv_freq).to(arithmetic.angles)


def cos_error(
    inv_freq: Float[Tensor, " pairs"], positions: Int[Tensor, " n"], arithmetic: Arithmetic
) -> Float[Tensor, "n pairs"]:
    """``cos(computed angle) - cos(exact angle)``, float64; NaN where the angle overflows.

    >>> inv_freq, position = torch.tensor([1.0]).double(), torch.tensor([65520])
    >>> cos_error(inv_freq, position, ARITHMETICS["float16"]).item()
    nan
    """
    computed = angles(inv_freq, positions, arithmetic).cos().to(torch.float64)
    return computed - (positions.to(torch.float64).unsqueeze(-1) * inv_freq).cos()


def max_cos_error(
    inv_freq: Float[Tensor, " pairs"], length: int, arithmetic: Arithmetic, start: int = 0
) -> float:
    """``max |Δcos|`` over the positions ``start … length - 1`` and all pairs.

    Computed in pieces, to bound memory. A position whose angle overflows counts as an error of 2,
    the greatest that a cosine can have.

    >>> max_cos_error(torch.tensor([1.0]).double(), 257, ARITHMETICS["float32"]) < 1e-7
    True
    """
    step = max(1, _PIECE // max(1, inv_freq.numel()))
    worst = 0.0
    for first in range(start, length, step):
        piece = torch.arange(first, min(first + step, length))
        error = cos_error(inv_freq, piece, arithmetic).abs()
        worst = max(worst, float(error.nan_to_num(2.0).max()))
    return worst


@dataclass(frozen=True)
class WorstPair:
    """At one position, the pair whose cosine is farthest off: each number exact, then as computed.

    Angles in radians. ``cos`` as computed is NaN where the angle overflows.
    """

    pair: int
    position: tuple[float, float]
    inv_freq: tuple[float, float]
    angle: tuple[float, float]
    cos: tuple[float, float]


def worst_pair(
    inv_freq: Float[Tensor, " pairs"], position: int, arithmetic: Arithmetic
) -> WorstPair:
    """The pair that rounding affects most at ``position``.

    >>> worst_pair(torch.tensor([1.0, 0.0]).double(), 257, ARITHMETICS["bfloat16"]).angle
    (257.0, 256.0)
    """
    positions = torch.tensor([position])
    error = cos_error(inv_freq, positions, arithmetic)[0].abs().nan_to_num(torch.inf)
    pair = int(error.argmax())
    frequency = inv_freq[pair : pair + 1]
    angle = angles(frequency, positions, arithmetic)
    exact = position * float(frequency)
    return WorstPair(
        pair=pair,
        position=(float(position), float(rounded(positions, arithmetic.positions))),
        inv_freq=(float(frequency), float(rounded(frequency, arithmetic.inv_freq))),
        angle=(exact, float(angle)),
        cos=(math.cos(exact), float(angle.cos())),
    )


def error_curve(
    inv_freq: Float[Tensor, " pairs"], last: int, arithmetic: Arithmetic, points: int = 192
) -> tuple[Int[Tensor, " n"], Float[Tensor, " n"]]:
    """At most ``points`` positions from 1 to ``last``, and the largest error of a cosine at each.

    The positions are equally spaced on a logarithmic scale, so that no small one is missing; an
    angle that overflows counts as an error of 2.

    >>> positions, error = error_curve(torch.tensor([1.0]).double(), 8, ARITHMETICS["float32"])
    >>> positions.tolist()
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    steps = torch.linspace(0, math.log2(max(last, 1)), points, dtype=torch.float64)
    positions: Tensor = steps.exp2().round().to(torch.int64).unique()
    error = cos_error(inv_freq, positions, arithmetic).abs().nan_to_num(2.0)
    return positions, error.amax(dim=-1)
