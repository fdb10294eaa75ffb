"""Which value a cell shows, what that looks like, and which windows an axis may have."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.pictures.resolution import Span, choose, mean_cells, span

FIRST_ROWS = (0, 28, 40, 56, 72, 94)
FIRST_DIMENSIONS = (0, 1, 48, 49, 80, 81)
sizes = st.integers(1, 9000)
mosts = st.integers(1, 512)
# Zooms as a browser sends them: anywhere, in any order, even far outside.
coordinates = st.floats(-1e5, 1e5) | st.integers(-20, 9020).map(lambda i: i - 0.5)
far = pytest.mark.parametrize("far", [1e5, 1e250])


@st.composite
def spans(draw: st.DrawFn, size: int, dimensions: bool = False) -> Span:
    start = draw(st.integers(0, size - 1))
    step = draw(st.integers(1, size + 3))
    if dimensions and step > 1:
        start -= start % 2
    return Span(
        start, draw(st.integers(start + 1, size)), step, dimensions=size if dimensions else 0
    )


def blocks(shown: Span) -> list[range]:
    """The indices behind each cell; for dimensions, behind each pair of cells."""
    size = shown.step * (2 if shown.dimensions and shown.step > 1 else 1)
    return [
        range(first, min(first + size, shown.stop))
        for first in range(shown.start, shown.stop, size)
    ]


def choices(shown: Span) -> list[list[int]]:
    """The indices that are shown, block by block."""
    return [[i for i in shown.indices if i in block] for block in blocks(shown)]


# --- what is chosen ---


@given(data=st.data(), size=st.integers(1, 200), dimensions=st.booleans())
def test_each_block_shows_indices_of_its_own(
    data: st.DataObject, size: int, dimensions: bool
) -> None:
    shown = data.draw(spans(size, dimensions))
    assert len(shown.indices) == shown.cells
    assert list(shown.indices) == sorted(set(shown.indices))
    for block, chosen in zip(blocks(shown), choices(shown), strict=True):
        assert len(chosen) == -(-len(block) // shown.step)
    if shown.step == 1:
        assert shown.indices == tuple(range(shown.start, shown.stop))


@given(data=st.data(), size=st.integers(1, 300))
def test_channels_are_shown_in_pairs_as_the_matrix_has_them(data: st.DataObject, size: int) -> None:
    shown = data.draw(spans(size, dimensions=True))
    if shown.step == 1:
        return
    for chosen in choices(shown):
        even = chosen[0]
        assert even % 2 == 0
        assert chosen in ([even], [even, even + 1])
    assert all(i % 2 == cell % 2 for cell, i in enumerate(shown.indices))


@pytest.mark.parametrize(("width", "most"), [(512, 256), (1024, 256), (4096, 256), (4096, 128)])
def test_both_halves_of_a_matrix_choose_alike(width: int, most: int) -> None:
    shown = span(width, most, of_dimensions=True).indices
    half = len(shown) // 2
    assert shown[half:] == tuple(i + width // 2 for i in shown[:half])


def test_the_choice_depends_on_the_block_and_the_step_alone() -> None:
    whole, window = Span(0, 8192, 16), Span(1600, 3200, 16)
    assert set(window.indices) <= set(whole.indices)
    assert Span(0, 8190, 16).indices[:-1] == whole.indices[:-1]
    wide, part = Span(0, 4096, 16, 4096), Span(320, 960, 16, 4096)
    assert set(part.indices) <= set(wide.indices)
    # The same on every machine and in every process.
    assert whole.indices[:6] == FIRST_ROWS
    assert wide.indices[:6] == FIRST_DIMENSIONS


def test_the_first_cell_shows_the_first_index() -> None:
    assert Span(0, 8192, 16).indices[0] == 0
    assert Span(0, 4096, 16, 4096).indices[:2] == (0, 1)


def test_every_place_in_a_block_is_chosen_as_often() -> None:
    # 512 choices of 16: 32 each, and 5.5 is their standard deviation.
    places = np.bincount([i % 16 for i in Span(0, 8192, 16).indices], minlength=16)
    assert np.abs(places - 32).max() < 4 * 5.5
    pairs = np.bincount([i % 32 // 2 for i in Span(0, 4096, 16, 4096).indices], minlength=16)
    assert pairs.max() <= 2 * 4 * 5  # 64 different choices, each of two cells, in both halves


@given(data=st.data(), height=st.integers(1, 23), width=st.integers(1, 23))
def test_every_cell_is_a_value_of_the_matrix(data: st.DataObject, height: int, width: int) -> None:
    matrix = np.random.RandomState(height * 31 + width).randn(height, width).astype(np.float32)
    rows, columns = data.draw(spans(height)), data.draw(spans(width, dimensions=True))
    cells = choose(torch.from_numpy(matrix), rows, columns)
    assert cells.dtype == torch.float32
    np.testing.assert_array_equal(cells.numpy(), matrix[np.ix_(rows.indices, columns.indices)])


def test_single_values_are_shown_bit_for_bit() -> None:
    matrix = torch.tensor([[math.pi, -0.0], [1e-40, 3e38]], dtype=torch.float32)
    assert torch.equal(choose(matrix, Span(0, 2), Span(0, 2)), matrix)


@pytest.mark.parametrize("size", [513, 1000, 8192])
def test_zooming_reaches_every_index(size: int) -> None:
    for index in range(0, size, 97):
        window = span(size, 256, index - 100.0, index + 100.0, of_dimensions=True)
        assert window.step == 1
        assert index in window.indices


# --- what it looks like ---


def strongest_line(curve: np.ndarray) -> float:
    """The highest line of a curve's periodogram, in units of its median.

    The lines of noise are exponentially distributed: the highest of 256 is about
    ln 256 / ln 2 = 8 medians, and only one in 4 million draws of 256 lines goes beyond 30.
    """
    power = np.abs(np.fft.rfft(curve - curve.mean()))[1:-1] ** 2
    return float(power.max() / np.median(power))


WAVES = pc.create("sinusoidal", embed_dim=64)


@pytest.mark.parametrize("dimension", [0, 1, 2, 3])
def test_a_fast_wave_is_seen_as_noise_and_not_as_a_slower_one(dimension: int) -> None:
    # Periods of 2π and 8.4 positions, 16 positions to a cell: no cell can show them as waves.
    wave = WAVES.table(range(8192))[:, dimension].double().numpy()
    shown = Span(0, 8192, 16)
    assert strongest_line(wave) > 1000
    assert strongest_line(wave[list(shown.indices)]) < 30
    # The first value of each block, and the block's mean, show a line that the matrix doesn't have.
    assert strongest_line(wave[::16]) > 300
    assert strongest_line(wave.reshape(512, 16).mean(axis=1)) > 300


def test_a_slow_wave_stays_a_wave() -> None:
    wave = WAVES.table(range(8192))[:, 40].double().numpy()
    shown = wave[list(Span(0, 8192, 16).indices)]
    assert strongest_line(shown) > 1000
    assert np.argmax(np.abs(np.fft.rfft(shown - shown.mean()))) == np.argmax(
        np.abs(np.fft.rfft(wave - wave.mean()))
    )


def test_many_tokens_have_the_spread_of_tokens() -> None:
    tokens = pc.random_tokens(8192, 1024)
    cells = choose(tokens, span(8192, 512), span(1024, 256, of_dimensions=True))
    assert float(cells.std()) == pytest.approx(float(tokens.std()), rel=0.01)
    assert float(cells.std()) == pytest.approx(0.5, rel=0.01)


# --- means, for spectra ---


@given(data=st.data(), height=st.integers(1, 23), width=st.integers(1, 23))
def test_a_mean_is_that_of_all_values_behind_it(
    data: st.DataObject, height: int, width: int
) -> None:
    matrix = np.random.RandomState(height * 31 + width).randn(height, width).astype(np.float32)
    rows, columns = data.draw(spans(height)), data.draw(spans(width))
    means = mean_cells(torch.from_numpy(matrix), rows, columns)
    assert means.shape == (rows.cells, columns.cells)
    expected = [
        [
            matrix[down.start : down.stop, across.start : across.stop].mean()
            for across in blocks(columns)
        ]
        for down in blocks(rows)
    ]
    np.testing.assert_allclose(means.numpy(), np.array(expected), atol=1e-6)


# --- what part of an axis is shown ---


@given(size=sizes, most=mosts)
def test_the_whole_axis(size: int, most: int) -> None:
    whole = span(size, most)
    assert (whole.start, whole.stop) == (0, size)
    assert 1 <= whole.cells <= most
    # The step is the smallest that fits.
    assert whole.step == 1 or math.ceil(size / (whole.step - 1)) > most


@given(size=sizes, most=mosts, low=coordinates, high=coordinates)
@example(size=100, most=6, low=10.0, high=20.0)
def test_a_window(size: int, most: int, low: float, high: float) -> None:
    seen = span(size, most, low, high)
    assert 0 <= seen.start < seen.stop <= size
    assert 1 <= seen.cells <= most
    # It covers what was asked for: index i is drawn from i - 0.5 to i + 0.5.
    first, last = min(low, high), max(low, high)
    inside = [i for i in (first, last) if -0.5 < i < size - 0.5]
    assert all(seen.start - 0.5 <= i <= seen.stop - 0.5 for i in inside)
    # No more than a cell beyond it on either side.
    assert seen.start + 0.5 >= min(first, size - 1.5)
    assert seen.stop - 0.5 - seen.step <= max(last, 0.5)
    # A cell always chooses from its whole block; only the matrix's end cuts a block short.
    assert (seen.stop - seen.start) % seen.step == 0 or seen.stop == size
    count = min(size, round(last - first) + 1)
    assert seen.step <= math.ceil((count + 1) / most)


@given(size=sizes, most=mosts, low=coordinates, high=coordinates)
def test_a_window_and_its_mirror_are_the_same(
    size: int, most: int, low: float, high: float
) -> None:
    # An axis that runs downwards gives its upper end first.
    assert span(size, most, low, high) == span(size, most, high, low)


@far
def test_a_window_outside_is_the_nearest_index(far: float) -> None:
    assert span(100, 10, far, far) == Span(99, 100)
    assert span(100, 10, -far, -far) == Span(0, 1)
    assert span(100, 10, 42.2, 42.2) == Span(42, 43)
    assert span(100, 10, -far, far) == span(100, 10)


def test_a_zoom_into_few_enough_indices_shows_each() -> None:
    assert span(8192, 512) == Span(0, 8192, 16)
    assert span(8192, 512, 99.5, 610.4) == Span(100, 611)


@given(data=st.data(), size=st.integers(1, 300))
def test_centres_are_the_mean_index_of_each_cell(data: st.DataObject, size: int) -> None:
    seen = data.draw(spans(size))
    indices = range(seen.start, seen.stop)
    expected = [
        float(np.mean(indices[first : first + seen.step]))
        for first in range(0, len(indices), seen.step)
    ]
    assert seen.centres().tolist() == expected
    assert len(expected) == seen.cells


@given(data=st.data(), size=st.integers(1, 300), at=st.floats(-400, 700))
def test_index_finds_the_cell_under_a_coordinate(data: st.DataObject, size: int, at: float) -> None:
    seen = data.draw(spans(size))
    index = seen.index(at)
    assert index in seen.indices
    if seen.start - 0.5 < at < seen.stop - 0.5:
        first = seen.start + seen.indices.index(index) * seen.step
        assert first - 0.5 <= at <= first + seen.step - 0.5
    else:
        assert index == seen.indices[0 if at < seen.start else -1]


@given(data=st.data(), size=st.integers(1, 300))
def test_a_click_on_a_centre_finds_its_cell(data: st.DataObject, size: int) -> None:
    seen = data.draw(spans(size))
    clicked = [seen.index(centre) for centre in seen.centres().tolist()]
    assert clicked == list(seen.indices)
