"""Many positions at once, and the rotation: the fast ways give the same numbers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import posembed_core as pc
from posembed_core.frequencies import (
    Pairing,
    inverse_frequencies,
    join_pairs,
    position_angles,
    position_waves,
    rotate_pairs,
    split_pairs,
    write_waves,
)

LONG = 1000  # enough positions and pairs that waves are put together from fewer angles
PAIRS = 64


def waves(positions: Tensor, inv_freq: Tensor) -> Tensor:
    return torch.cat([rows.clone() for rows in position_waves(positions, inv_freq)])


def exact(positions: Tensor, inv_freq: Tensor) -> Tensor:
    angles = positions.double()[:, None] * inv_freq
    return torch.complex(angles.sin(), angles.cos())


@given(first=st.integers(-200_000, 200_000), base=st.sampled_from([10.0, 1e4, 5e5]))
def test_consecutive_positions_are_as_exact_as_single_ones(first: int, base: float) -> None:
    positions = torch.arange(first, first + LONG)
    inv_freq = inverse_frequencies(2 * PAIRS, base)
    # An angle of 200,000 rad is itself rounded by 1.5e-11.
    torch.testing.assert_close(
        waves(positions, inv_freq), exact(positions, inv_freq), rtol=0, atol=1e-10
    )


def test_scattered_positions_in_any_order_have_their_own_waves() -> None:
    positions = torch.randperm(LONG, generator=torch.Generator().manual_seed(0)) * 7
    inv_freq = inverse_frequencies(2 * PAIRS, 1e4)
    assert torch.equal(waves(positions, inv_freq), exact(positions, inv_freq))


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
@pytest.mark.parametrize("dim", [2, 127, 128])
def test_a_long_table_in_float32_is_the_cast_of_the_exact_one(layout: str, dim: int) -> None:
    encoding = pc.create("sinusoidal", embed_dim=dim, layout=layout)
    whole = exact(torch.arange(LONG), inverse_frequencies(dim, 1e4))
    columns = [whole.real, whole.imag[:, : dim // 2]]
    wanted = torch.cat(columns, dim=1)
    if layout == "interleaved":
        wanted = torch.stack([columns[k % 2][:, k // 2] for k in range(dim)], dim=1)
    table = encoding.table(torch.arange(LONG))
    # Half a unit in the last place of a number below 1, plus a little for the earlier rounding.
    assert (table.double() - wanted).abs().max() <= 2**-25 * (1 + 1e-4)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_rotation_is_its_definition(pairing: Pairing, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 3, 10, generator=generator, dtype=dtype)
    angles = torch.rand(3, 4, generator=generator, dtype=torch.float64) * 1000
    cos, sin = 1.5 * angles.cos(), 1.5 * angles.sin()
    a, b = split_pairs(x[..., :8].double(), pairing)
    turned = join_pairs(a * cos - b * sin, b * cos + a * sin, pairing)
    wanted = torch.cat((turned, x[..., 8:].double()), dim=-1)
    close = {"rtol": 0, "atol": 2e-6 if dtype == torch.float32 else 1e-14}
    torch.testing.assert_close(rotate_pairs(x, angles, pairing, 1.5).double(), wanted, **close)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_gradients_pass_through_a_rotation_turned_back(pairing: Pairing) -> None:
    x = torch.randn(3, 8, generator=torch.Generator().manual_seed(0), requires_grad=True)
    angles = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    upstream = torch.ones(3, 8)
    rotate_pairs(x, angles, pairing).backward(upstream)
    assert x.grad is not None
    torch.testing.assert_close(x.grad, rotate_pairs(upstream, -angles, pairing))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("length", [0, 7, 300])
@pytest.mark.parametrize("pairs", [3, 64])
def test_waves_are_the_same_wherever_they_are_written(
    length: int, pairs: int, dtype: torch.dtype
) -> None:
    positions, inv_freq = torch.arange(5, 5 + length), inverse_frequencies(2 * pairs, 10000.0)
    angles = position_angles(positions, inv_freq)
    apart = torch.full((2, length, pairs), torch.nan, dtype=dtype)
    write_waves(positions, inv_freq, sin=apart[0], cos=apart[1])
    near = {"rtol": 0, "atol": 1e-12} if dtype == torch.float64 else {}
    torch.testing.assert_close(apart[0], angles.sin().to(dtype), **near)
    torch.testing.assert_close(apart[1], angles.cos().to(dtype), **near)
    alternating = torch.full((length, 2 * pairs), torch.nan, dtype=dtype)
    write_waves(positions, inv_freq, sin=alternating[:, 0::2], cos=alternating[:, 1::2])
    assert torch.equal(alternating, torch.stack((apart[0], apart[1]), dim=-1).flatten(1))
    one_less = torch.full((length, 2 * pairs - 1), torch.nan, dtype=dtype)
    write_waves(positions, inv_freq, sin=one_less[:, 0::2], cos=one_less[:, 1::2])
    assert torch.equal(one_less, alternating[:, :-1])
