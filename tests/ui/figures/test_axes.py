"""What all figures share, and that they need nothing but arrays."""

from __future__ import annotations

import math
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages._ui import figures
from pages._ui.figures.axes import axis_number, colour_peak, middles, nice_ceiling, on_cells, whole
from posembed_core.pictures.resolution import Span


def test_figures_load_neither_streamlit_nor_torch() -> None:
    names = [module.name for module in pkgutil.iter_modules(figures.__path__)]
    assert "equation" in names
    code = "; ".join(f"import {figures.__name__}.{name}" for name in names)
    code += "; import sys; print(*sorted(sys.modules), sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert {"plotly", "numpy"} <= loaded
    assert loaded & {"streamlit", "torch", "posembed_core"} == set()


def test_the_first_picture_s_axes_have_no_number() -> None:
    assert [axis_number(picture) for picture in (1, 2, 11)] == ["", "2", "11"]


def test_cells_lie_on_their_indices() -> None:
    across = Span(8, 16, 4)
    lie = {"x0": 9.5, "dx": 4, "y0": 0, "dy": 1}
    shown = {"across": list(across.indices), "up": [0, 1, 2, 3, 4, 5]}
    assert on_cells(across, range(6)) == {**lie, "meta": shown}
    assert on_cells(range(6), range(6)).keys() == lie.keys()
    assert whole(6) == (-0.5, 5.5)
    assert whole(6, reverse=True) == (5.5, -0.5)


@given(start=st.integers(0, 50), count=st.integers(1, 50), step=st.integers(1, 9))
def test_a_cell_is_drawn_at_the_mean_of_its_indices(start: int, count: int, step: int) -> None:
    indices = range(start, start + count)
    blocks = [indices[first : first + step] for first in range(0, count, step)]
    means = [sum(block) / len(block) for block in blocks]
    span = Span(start, start + count, step)
    assert middles(span) == means == span.centres().tolist()


@given(peak=st.floats(1e-44, 1e40))
def test_a_nice_ceiling_is_above_and_not_far(peak: float) -> None:
    ceiling = nice_ceiling(peak)
    assert peak * (1 - 1e-8) <= ceiling <= peak * 5 / 3 * (1 + 1e-8)
    digits = f"{ceiling:.6e}".split("e")[0]
    assert digits in {"1.000000", "1.500000", "2.000000", "3.000000", "5.000000", "7.000000"}
    assert nice_ceiling(ceiling) == pytest.approx(ceiling)


@given(low=st.floats(1e-30, 1e30), factor=st.floats(1, 1e6))
def test_a_nice_ceiling_never_falls(low: float, factor: float) -> None:
    assert nice_ceiling(low) <= nice_ceiling(low * factor) * (1 + 1e-9)


@pytest.mark.parametrize("peak", [0.0, -1.0, math.nan, math.inf, 5e-324, 1e-320])
def test_a_range_without_numbers_is_still_a_range(peak: float) -> None:
    ceiling = nice_ceiling(peak)
    assert math.isfinite(ceiling)
    assert ceiling > 0


def test_colours_end_at_the_greatest_value_unless_it_is_an_outlier() -> None:
    assert colour_peak(np.array([[1.0, -2.0], [0.5, 1.0]])) == 2
    lone = np.zeros((10, 10))
    lone[0, 0] = -50
    assert colour_peak(lone) == pytest.approx(4 * 5)
