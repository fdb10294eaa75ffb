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
_MANY = 2**14  # below this many angles, computing them directly is faster
_FEW = 2**13  # up to this many sines, writing them all at once is faster


def inverse_frequencies(dim: int, base: float) -> Float[Tensor, " pairs"]:
    """``base ** (-2 i / dim)`` for each of the ``ceil(dim / 2)`` pairs, radians per position.

    float64. Vaswani et al. 2017, section 3.5; Su et al. 2021, eq. 15.

    >>> inverse_frequencies(4, 100.0)
    tensor([1.0000, 0.1000], dtype=torch.float64)
    """
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    return torch.pow(base, even.div_(-dim))


def ntk_base(base: float, stretch: float, dim: int) -> float:
    """The base whose last of ``dim / 2`` frequencies is ``stretch`` times lower.

    ``base * stretch ** (dim / (dim - 2))``; a single pair turns by 1 whatever the base, so it
    stays. bloc97 2023, NTK-aware scaled RoPE.

    >>> inverse_frequencies(4, ntk_base(100.0, stretch=2.0, dim=4))
    tensor([1.0000, 0.0500], dtype=torch.float64)
    """
    return base if dim <= 2 else base * stretch ** (dim / (dim - 2))


def position_angles(
    positions: Int[Tensor, "..."],
    inv_freq: Float[Tensor, " pairs"],
    scale: float = 1.0,
) -> Float[Tensor, "... pairs"]:
    """The angle of each pair at each position, in radians: ``scale * position * inv_freq``.

    float64 throughout, since float32 positions times frequencies are off by 3.6e-3 rad at 131072.

    >>> position_angles(torch.tensor([0, 3]), torch.tensor([1.0, 0.1]), scale=0.5)
    tensor([[0.0000, 0.0000],
            [1.5000, 0.1500]], dtype=torch.float64)
    """
    exact = positions.to(torch.float64)
    return (exact if scale == 1.0 else exact * scale).unsqueeze(-1) * inv_freq.to(torch.float64)


def write_waves(
    positions: Int[Tensor, "*shape"],
    inv_freq: Float[Tensor, " pairs"],
    *,
    sin: Float[Tensor, "*shape pairs"],
    cos: Float[Tensor, "*shape cosines"],
) -> None:
    """Write the sine and the cosine of ``position * inv_freq`` into ``sin`` and ``cos``.

    Each has a column for every frequency; ``cos`` may lack the last. Both may be views of
    one tensor. Angles, sines and cosines are float64, then cast.

    >>> table = torch.empty(3, 4)
    >>> write_waves(torch.arange(3), torch.ones(2), sin=table[:, 0::2], cos=table[:, 1::2])
    >>> table[0]
    tensor([0., 1., 0., 1.])
    """
    fewer = cos.shape[-1]
    if sin.numel() <= _FEW:
        angles = position_angles(positions, inv_freq)
        sin.copy_(angles.sin())
        cosines = angles.cos()
        cos.copy_(cosines if fewer == sin.shape[-1] else cosines[..., :fewer])
        return
    flat = positions.flatten()
    sines, cosines = (out.view(len(flat), -1) for out in (sin, cos))
    both = _alternating(sines, cosines)
    start = 0
    for waves in position_waves(flat, inv_freq):
        rows = slice(start, start + len(waves))
        start = rows.stop
        if both is not None:
            both[rows].copy_(torch.view_as_real(waves).flatten(1))
        else:
            sines[rows].copy_(waves.real)
            cosines[rows].copy_(waves.imag[:, :fewer])


def _alternating(
    first: Float[Tensor, "n a"], second: Float[Tensor, "n b"]
) -> Float[Tensor, "n both"] | None:
    """The matrix that has ``first`` in its even and ``second`` in its odd columns, if there is one.

    Waves lie in memory in that order, so one copy writes both.
    """
    next_to = second.data_ptr() - first.data_ptr() == first.element_size()
    alike = first.shape == second.shape and first.stride() == second.stride()
    if not (next_to and alike and first.stride(1) == 2):
        return None
    return first.as_strided((first.shape[0], 2 * first.shape[1]), (first.stride(0), 1))


def position_waves(
    positions: Int[Tensor, " n"], inv_freq: Float[Tensor, " pairs"]
) -> Iterator[Complex[Tensor, "rows pairs"]]:
    """``sin(position * inv_freq) + i cos(position * inv_freq)``, complex128, some rows at a time.

    Sine and cosine alternate in memory. Rows are valid until the next ones are asked for, which may
    come in the same memory (new memory for each takes twice the time). The waves of consecutive
    positions are computed as products of a few, in a tenth of the time: with θ = pω, δ = rω,
    sin(θ + δ) + i cos(θ + δ) = (sin θ + i cos θ)(cos δ - i sin δ). All in float64: the products add
    less rounding than the angle itself has.

    >>> next(position_waves(torch.arange(2), torch.ones(1)))
    tensor([[0.0000+1.0000j],
            [0.8415+0.5403j]], dtype=torch.complex128)
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

    The first ``2 * pairs`` dimensions are rotated, the others pass unchanged (GPT-NeoX's partial
    rotary). ``pairing`` says which dimensions form a pair: ``(i, i + pairs)`` for ``"half"``
    (transformers' ``rotate_half``), ``(2i, 2i + 1)`` for ``"interleaved"`` (Su et al. 2021, eq. 34,
    and Meta's Llama code). The result has the dtype of ``x``; a half-precision one is the cast of
    the exact value.

    >>> sixth = torch.tensor([[math.pi / 3]])
    >>> rotate_pairs(torch.tensor([[1.0, 0.0, 5.0]]), sixth, "interleaved")
    tensor([[0.5000, 0.8660, 5.0000]])
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
    """The pair, as a real number, that makes ``turns`` turns within ``length`` positions.

    Peng et al. 2023 (YaRN), section 3.2: ``dim ln(length / (2π turns)) / (2 ln(base))``.

    >>> round(pair_of_turns(128, 10000.0, 4096, turns=1.0), 2)
    45.03
    """
    return dim * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


def split_pairs(
    x: Float[Tensor, "... dim"], pairing: Pairing
) -> tuple[Float[Tensor, "... pairs"], Float[Tensor, "... pairs"]]:
    """The first and the second member of each pair.

    >>> split_pairs(torch.arange(4.0), "half")
    (tensor([0., 1.]), tensor([2., 3.]))
    """
    if pairing == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    first, second = x.chunk(2, dim=-1)
    return first, second


def join_pairs(
    first: Float[Tensor, "... pairs"], second: Float[Tensor, "... pairs"], pairing: Pairing
) -> Float[Tensor, "... dim"]:
    """The inverse of `split_pairs`.

    >>> join_pairs(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0]), "interleaved")
    tensor([0., 2., 1., 3.])
    """
    if pairing == "interleaved":
        return torch.stack((first, second), dim=-1).flatten(-2)
    return torch.cat((first, second), dim=-1)
