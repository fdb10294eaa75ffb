"""Where a table's colours end: what the bar and the caption say is what the cells are."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import posembed_core as pc
from pages._ui.table.colours import ends_of
from pages._ui.table.pictures import (
    comparison_chart,
    comparison_ends,
    lookup_cells,
    lookup_chart,
    lookup_window,
    measure_figure,
    waves_ends,
)
from tests.visits import arrived


def table_of(rows: int, columns: int, first: float) -> pc.PositionTable:
    """A table like BERT's: noise, with a first row that is far larger."""
    weight = torch.from_numpy(np.random.RandomState(0).randn(rows, columns).astype("f4")) * 0.05
    weight[0] *= first
    return pc.PositionTable(weight=weight, name="wpe", source="made up")


@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=30),
    st.floats(0.01, 20),
    st.booleans(),
)
def test_the_ends_count_the_cells_beyond_them(
    values: list[float], peak: float, unsigned: bool
) -> None:
    cells = np.abs([values]) if unsigned else np.array([values])
    ends = ends_of([cells], peak, unsigned=unsigned)
    beyond = np.abs(cells) > ends.peak
    assert ends.below + ends.above == beyond.sum()
    ticks = ends.patch("coloraxis")["coloraxis.colorbar.ticktext"]
    assert ticks[0].startswith("≤") == bool((cells < -ends.peak).any())
    assert ticks[-1].startswith("≥") == bool((cells > ends.peak).any())
    assert ("no cell lies beyond" in ends.sentence) == (not beyond.any())
    if beyond.any():
        count, of = re.findall(r"(\d+) of (\d+) cells", ends.sentence)[0]
        assert (int(count), int(of)) == (beyond.sum(), cells.size)


@pytest.mark.parametrize("first", [1.0, 60.0])
@pytest.mark.parametrize("full", [False, True])
def test_a_row_beyond_the_colours_is_said_and_one_click_shows_it(first: float, full: bool) -> None:
    table, window = table_of(100, 16, first), lookup_window(100, 16)
    chart = lookup_chart(table, 5, None, True, window, full)
    end = chart.patch["coloraxis.cmax"]
    beyond = int((table.weight.abs() > end).sum())
    assert (beyond > 0) == (first == 60.0 and not full)
    caption = lookup_cells(table, window, full)
    assert ("no cell lies beyond" in caption) == (beyond == 0)
    assert beyond == 0 or f"{beyond} of 1,600 cells lie beyond" in caption
    ticks = chart.patch["coloraxis.colorbar.ticktext"]
    assert (ticks[-1].startswith("≥") or ticks[0].startswith("≤")) == (beyond > 0)
    two = comparison_chart([table, table_of(50, 8, 1.0)], True, full)
    sentence = comparison_ends([table, table_of(50, 8, 1.0)], True, full).sentence
    marked = "≥" in two.patch["coloraxis.colorbar.ticktext"][-1]
    assert marked == (" beyond, the farthest" in sentence)
    if full:
        assert "no cell lies beyond" in sentence


@pytest.mark.parametrize("full", [False, True])
def test_the_bar_of_the_waves_says_what_lies_beyond(full: bool) -> None:
    sinusoid = pc.create("sinusoidal", embed_dim=32).table(torch.arange(200))
    table = pc.PositionTable(weight=sinusoid, name="wpe", source="made up")
    figure, _ = measure_figure(table, "waves", full)
    ends = waves_ends(table, full)
    (cells,) = (trace.z for trace in figure.data if trace.name == "amplitude")
    assert (np.asarray(cells) > figure.layout.coloraxis.cmax).sum() == ends.above
    ticks = figure.layout.coloraxis.colorbar.ticktext
    assert ticks[-1].startswith("≥") == (ends.above > 0)
    assert full is (ends.above == 0)


def test_the_page_asks_for_the_full_range_and_the_link_keeps_it() -> None:
    small = {"max_seq_len": "16", "embed_dim": "8", "num_tokens": "4", "batch_size": "2"}
    app = arrived("table", {**small, "view": "lookup"})
    # All colours of this one reach to its greatest value.
    assert not app.toggle
    app = arrived("table", {**small, "view": "lookup", "source": "model"})
    assert any("Colours end at ±" in element.value for element in app.markdown)
    (toggle,) = (box for box in app.toggle if box.label == "Full colour range")
    toggle.set_value(True).run()
    assert not app.exception
    assert dict(app.query_params)["full"] in ("true", ["true"])
