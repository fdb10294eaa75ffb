"""Frequencies, angles, the two pair layouts of a rotation, and the rotation itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

Pairing = Literal["half", "interleaved"]

_RUN = 64  # positions at once: their angles stay in the processor's cache
_MANY = 2**14  # angles, of which fewer are computed sooner than put together


def inverse_frequencies(dim: int, base: float) -> Float[Tensor, " pairs"]:
    """``base ** (-2 i / dim)`` for each of the ``ceil(dim / 2)`` pairs, radians per position.

    float64. Vaswani et al. 2017, section 3.5; Su et al. 2021, eq. 15.
    """
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    return torch.pow(base, even.div_(-dim))


def ntk_base(base: float, stretch: float, dim: int) -> float:
    """The base whose last of ``dim / 2`` frequencies is ``stretch`` times lower.

    ``base * stretch ** (dim / (dim - 2))``; a single pair turns by 1 whatever the base, so it
    stays. bloc97 2023, NTK-aware scaled RoPE.
    """
    return base if dim <= 2 else base * stretch ** (dim / (dim - 2))


def position_angles(
    positions: Int[Tensor, "..."],
    inv_freq: Float[Tensor, " pairs"],
    scale: float = 1.0,
) -> Float[Tensor, "... pairs"]:
    """The angle of each pair at each position, in radians: ``scale * position * inv_freq``.

    float64 throughout, since float32 positions times frequencies are off by 3.6e-3 rad at 131072.
    """
    where = positions.to(torch.float64)
    return (where if scale == 1.0 else where * scale).unsqueeze(-1) * inv_freq.to(torch.float64)


def position_waves(
    positions: Int[Tensor, " n"], inv_freq: Float[Tensor, " pairs"]
) -> Iterator[Complex[Tensor, "rows pairs"]]:
    """``sin(position * inv_freq) + i cos(position * inv_freq)``, complex128, some rows at a time.

    Sine and cosine alternate in memory. Rows are valid until the next ones are asked for, which may
    come in the same memory (new memory for each takes twice the time). Consecutive positions are
    put together from few of them, which takes a tenth of the time: with θ = pω and δ = rω,
    sin(θ + δ) + i cos(θ + δ) = (sin θ + i cos θ)(cos δ - i sin δ). All in float64: that adds less
    rounding than the angle itself has.
    """
    if len(positions) * len(inv_freq) > _MANY and torch.equal(
        positions, positions[:1] + torch.arange(len(positions))
    ):
        steps = position_angles(torch.arange(_RUN), inv_freq)
        step = torch.complex(steps.cos(), -steps.sin())
        begins = position_angles(positions[::_RUN], inv_freq)
        waves = torch.empty_like(step)
        for i, begin in enumerate(torch.complex(begins.sin(), begins.cos())):
            rows = slice(0, len(positions) - i * _RUN)
            yield torch.mul(begin, step[rows], out=waves[rows])
    else:
        for piece in positions.split(max(_RUN, _MANY // max(1, len(inv_freq)))):
            angles = position_angles(piece, inv_freq)
            yield torch.complex(angles.sin(), angles.cos())


def rotate_pairs(
    x: Float[Tensor, "... dim"],
    angles: Float[Tensor, "#*batch pairs"],
    pairing: Pairing,
    factor: float = 1.0,
) -> Float[Tensor, "... dim"]:
    """Rotate each pair of the last axis by its angle, and multiply it by ``factor``.

    The first ``2 * pairs`` channels are rotated, the others pass unchanged (GPT-NeoX's partial
    rotary). ``pairing`` says which channels form a pair: ``(i, i + pairs)`` for ``"half"``
    (transformers' ``rotate_half``), ``(2i, 2i + 1)`` for ``"interleaved"`` (Su et al. 2021, eq. 34,
    and Meta's Llama code). The result has the dtype of ``x``; a half-precision one is the cast of
    the exact value.
    """
    width = 2 * angles.shape[-1]
    exact = x.dtype if x.dtype == torch.float32 else torch.float64
    waves = (angles.cos(), angles.sin())
    cos, sin = ((wave if factor == 1.0 else wave * factor).to(exact) for wave in waves)
    turned, passed = x[..., :width].to(exact), x[..., width:]
    a, b = split_pairs(turned, pairing)
    if pairing == "interleaved":
        # x = [a0 b0 a1 b1 …]: (a + ib)(cos + i sin), in one pass over the memory
        product = torch.complex(a, b) * torch.complex(cos, sin)
        rotated = torch.view_as_real(product).flatten(-2)
    else:
        # x = [a0 a1 … | b0 b1 …]     out = [a cos - b sin | b cos + a sin]
        rotated = turned * torch.cat((cos, cos), dim=-1)
        rotated[..., : width // 2].addcmul_(b, sin, value=-1)
        rotated[..., width // 2 :].addcmul_(a, sin)
    rotated = rotated.to(x.dtype)
    return rotated if passed.shape[-1] == 0 else torch.cat((rotated, passed), dim=-1)


def pair_of_turns(dim: int, base: float, length: int, turns: float) -> float:
    """The pair, as a real number, that turns so many times within ``length`` positions.

    Peng et al. 2023 (YaRN), section 3.2: ``dim ln(length / (2π turns)) / (2 ln(base))``.
    """
    return dim * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


def split_pairs(
    x: Float[Tensor, "... dim"], pairing: Pairing
) -> tuple[Float[Tensor, "... pairs"], Float[Tensor, "... pairs"]]:
    """The first and the second member of each pair."""
    if pairing == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    first, second = x.chunk(2, dim=-1)
    return first, second


def join_pairs(
    first: Float[Tensor, "... pairs"], second: Float[Tensor, "... pairs"], pairing: Pairing
) -> Float[Tensor, "... dim"]:
    """The inverse of `split_pairs`."""
    if pairing == "interleaved":
        return torch.stack((first, second), dim=-1).flatten(-2)
    return torch.cat((first, second), dim=-1)
