"""Pooling against an independent mean, and what a window of an axis may be."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from posembed_core.pictures.resolution import Span, pool, pool_rows, span

sizes = st.integers(1, 9000)
mosts = st.integers(1, 512)
# Zooms as a browser sends them: anywhere, in any order, far outside too.
coordinates = st.floats(-1e5, 1e5) | st.integers(-20, 9020).map(lambda i: i - 0.5)
far = pytest.mark.parametrize("far", [1e5, 1e250])


@st.composite
def spans(draw: st.DrawFn, size: int) -> Span:
    start = draw(st.integers(0, size - 1))
    return Span(start, draw(st.integers(start + 1, size)), draw(st.integers(1, size + 3)))


def mean_cells(matrix: np.ndarray, rows: Span, columns: Span) -> np.ndarray:
    """Each cell's mean by NumPy, cell by cell."""
    return np.array(
        [
            [
                matrix[r : min(r + rows.step, rows.stop), c : min(c + columns.step, columns.stop)]
                .astype(np.float64)
                .mean()
                for c in range(columns.start, columns.stop, columns.step)
            ]
            for r in range(rows.start, rows.stop, rows.step)
        ]
    )


@given(data=st.data(), height=st.integers(1, 23), width=st.integers(1, 23))
def test_every_cell_is_the_mean_of_its_values(data: st.DataObject, height: int, width: int) -> None:
    matrix = np.random.RandomState(height * 31 + width).randn(height, width).astype(np.float32)
    rows, columns = data.draw(spans(height)), data.draw(spans(width))
    pooled = pool(torch.from_numpy(matrix), rows, columns)
    assert pooled.shape == (rows.cells, columns.cells)
    assert pooled.dtype == torch.float32
    np.testing.assert_allclose(pooled.numpy(), mean_cells(matrix, rows, columns), atol=1e-6)


@given(data=st.data(), size=st.integers(1, 60))
def test_a_curve_is_pooled_in_its_own_precision(data: st.DataObject, size: int) -> None:
    curve = np.random.RandomState(size).randn(size)
    rows = data.draw(spans(size))
    pooled = pool_rows(torch.from_numpy(curve), rows)
    expected = mean_cells(curve[:, None], rows, Span(0, 1))[:, 0]
    assert pooled.dtype == torch.float64
    np.testing.assert_allclose(pooled.numpy(), expected, rtol=1e-13, atol=1e-15)


def test_single_values_are_shown_bit_for_bit() -> None:
    matrix = torch.tensor([[math.pi, -0.0], [1e-40, 3e38]], dtype=torch.float32)
    assert torch.equal(pool(matrix, Span(0, 2), Span(0, 2)), matrix)


def test_the_last_cell_is_no_smaller_for_being_partial() -> None:
    # Counting what lies outside as zeros would give 1/3.
    pooled = pool(torch.ones(4, 1), Span(0, 4, 3), Span(0, 1))
    assert pooled.tolist() == [[1.0], [1.0]]


@given(size=sizes, most=mosts)
def test_the_whole_axis(size: int, most: int) -> None:
    whole = span(size, most)
    assert (whole.start, whole.stop) == (0, size)
    assert 1 <= whole.cells <= most
    # The step is the smallest that does.
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
    # A cell never shows a part of what it is the mean of; only the matrix's end cuts one.
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
    assert index in range(seen.start, seen.stop, seen.step)
    if seen.start - 0.5 < at < seen.stop - 0.5:
        assert index - 0.5 <= at <= index + seen.step - 0.5
    else:
        assert index == (
            seen.start if at < seen.start else range(seen.start, seen.stop, seen.step)[-1]
        )


@given(data=st.data(), size=st.integers(1, 300))
def test_a_click_on_a_centre_finds_its_cell(data: st.DataObject, size: int) -> None:
    seen = data.draw(spans(size))
    found = [seen.index(centre) for centre in seen.centres().tolist()]
    assert found == list(range(seen.start, seen.stop, seen.step))
