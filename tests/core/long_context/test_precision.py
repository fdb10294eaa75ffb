"""Rounded positions, frequencies and angles against float64."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.frequencies import inverse_frequencies
from posembed_core.long_context import precision
from posembed_core.long_context.precision import ARITHMETICS, DTYPES

FLOAT32, BF16, FP16 = DTYPES.values()


@pytest.mark.parametrize(
    ("dtype", "last", "reads"),
    [(BF16, 256, 256), (FP16, 2048, 2048), (FLOAT32, 2**24, 2**24)],
)
def test_the_first_position_that_reads_as_another(
    dtype: torch.dtype, last: int, reads: int
) -> None:
    assert precision.exact_until(dtype) == last
    assert precision.first_collision(dtype) == (last + 1, reads)
    around = torch.arange(last - 100, last + 1)
    assert torch.equal(precision.rounded(around, dtype), around.double())


def test_bfloat16_positions_after_256() -> None:
    values = precision.rounded(torch.arange(256, 263), BF16)
    assert values.tolist() == [256, 256, 258, 260, 260, 260, 262]


def test_float16_has_no_position_from_65520_on() -> None:
    assert precision.rounded(torch.tensor([65519, 65520]), FP16).tolist() == [65504, float("inf")]


@settings(max_examples=60, deadline=None)
@given(length=st.integers(1, 200_000), dtype=st.sampled_from(list(DTYPES.values())))
def test_different_positions_are_counted(length: int, dtype: torch.dtype) -> None:
    values = torch.arange(length).to(dtype).double().unique()
    assert precision.distinct_positions(length, dtype) == len(values)


@pytest.mark.parametrize(
    "length", [1, 256, 257, 258, 2049, 2050, 65504, 65505, 65519, 65520, 2**20]
)
def test_positions_are_counted_at_the_borders(length: int) -> None:
    for dtype in DTYPES.values():
        expected = len(torch.arange(length).to(dtype).double().unique())
        assert precision.distinct_positions(length, dtype) == expected


def test_a_count_of_no_positions_is_refused() -> None:
    with pytest.raises(pc.EncodingError, match="length must be at least 1, got 0"):
        precision.distinct_positions(0, BF16)


@pytest.mark.parametrize(("position", "expected"), [(512, 1.4e-5), (131072, 3.6e-3)])
def test_float32_tables_drift(position: int, expected: float) -> None:
    inv_freq = inverse_frequencies(512, 1e4)
    positions, exact = torch.tensor([position]), position * inv_freq
    computed = precision.angles(inv_freq, positions, ARITHMETICS["float32"])
    assert computed.dtype == torch.float32
    drift = [(computed.cos() - exact.cos()).abs().max(), (computed.sin() - exact.sin()).abs().max()]
    assert max(drift).item() == pytest.approx(expected, rel=0.05)
    error = precision.cos_error(inv_freq, positions, ARITHMETICS["float32"])
    assert error.abs().max() == drift[0]


def test_the_greatest_error_is_that_of_all_positions() -> None:
    inv_freq = inverse_frequencies(64, 1e4)
    for arithmetic in ARITHMETICS.values():
        every = precision.cos_error(inv_freq, torch.arange(20_000), arithmetic)
        assert precision.max_cos_error(inv_freq, 20_000, arithmetic) == every.abs().max()
        last = precision.max_cos_error(inv_freq, 20_000, arithmetic, start=19_000)
        assert last == every[19_000:].abs().max()


def test_errors_grow_with_the_length_and_with_rounding() -> None:
    inv_freq = inverse_frequencies(32, 5e5)
    errors = {
        name: [precision.max_cos_error(inv_freq, length, arithmetic) for length in (100, 8192)]
        for name, arithmetic in ARITHMETICS.items()
    }
    assert all(short < long for short, long in errors.values())
    assert errors["float32"][1] < errors["inv_freq-float16"][1] < errors["inv_freq-bfloat16"][1]
    assert errors["float32"][0] < errors["inv_freq-float16"][0] <= errors["float16"][0]


def test_an_angle_that_overflows_counts_as_the_greatest_error() -> None:
    ones = torch.ones(1, dtype=torch.float64)
    assert precision.cos_error(ones, torch.tensor([65520]), ARITHMETICS["float16"]).isnan().all()
    assert precision.max_cos_error(ones, 65521, ARITHMETICS["float16"]) == 2.0


def test_the_worst_pair_is_shown_number_by_number() -> None:
    inv_freq = inverse_frequencies(64, 1e4)
    worst = precision.worst_pair(inv_freq, 257, ARITHMETICS["bfloat16"])
    every = precision.cos_error(inv_freq, torch.tensor([257]), ARITHMETICS["bfloat16"])[0]
    assert worst.pair == every.abs().argmax()
    assert worst.position == (257, 256)
    assert worst.inv_freq == (inv_freq[worst.pair], inv_freq[worst.pair].bfloat16().double())
    assert worst.angle[0] == pytest.approx(257 * inv_freq[worst.pair].item(), rel=1e-15)
    assert worst.cos[1] - worst.cos[0] == pytest.approx(every[worst.pair].item(), rel=1e-12)


def test_the_curve_of_errors_samples_positions_up_to_the_last() -> None:
    inv_freq = inverse_frequencies(64, 1e4)
    positions, error = precision.error_curve(inv_freq, 8192, ARITHMETICS["float32"], points=100)
    assert (positions[0], positions[-1]) == (1, 8192)
    assert (positions.diff() > 0).all()
    assert len(positions) <= 100
    every = precision.cos_error(inv_freq, positions, ARITHMETICS["float32"])
    assert torch.equal(error, every.abs().amax(-1))
    assert precision.error_curve(inv_freq, 1, ARITHMETICS["float32"])[0].tolist() == [1]
