"""The table page's figures as data: what is where, on a wide page and on a phone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

import posembed_core as pc
from pages._ui import live
from pages._ui.figures import measures
from pages._ui.figures.panes import Pane, Sheet, heatmap
from pages._ui.figures.table import (
    Beside,
    LookupLook,
    comparison_figure,
    gradient_figure,
    lookup_figure,
    training_figure,
)
from pages._ui.theme import DIVERGING, SEQUENTIAL
from posembed_core.pictures.resolution import Span
from posembed_core.tables.measures import analysis

TABLE = torch.from_numpy(np.random.RandomState(0).randn(16, 6)).to(torch.float32)
HOLED = TABLE.clone()
HOLED[[3, 7]] = 0
ROWS, COLUMNS = Span(0, 16), Span(0, 6)


def similarity(table: torch.Tensor) -> tuple[go.Figure, dict[str, Any]]:
    cosines = analysis.cosine_similarity(table, ROWS, ROWS).cells()
    decay = analysis.distance_decay(table)
    return measures.similarity_figure(
        cosines.numpy(), ROWS, decay.values.numpy(), decay.pairs.numpy()
    )


def waves(table: torch.Tensor) -> tuple[go.Figure, dict[str, Any]]:
    power = analysis.fourier_power(table)
    means, amplitudes = power.power.mean(dim=1), power.power.sqrt()
    return measures.fourier_figure(
        power.frequencies.numpy(), means.numpy(), amplitudes.numpy(), Span(0, 9), COLUMNS
    )


def components(table: torch.Tensor) -> tuple[go.Figure, dict[str, Any]]:
    principal = analysis.principal_components(table)
    return measures.components_figure(principal.curves.numpy(), principal.shares.numpy())


FIGURES = {
    "training": training_figure([0, 10, 20], 16, 6, ROWS, COLUMNS),
    "lookup": lookup_figure(LookupLook(ROWS, COLUMNS, 16, 6)),
    "lookup, extended": lookup_figure(LookupLook(ROWS, COLUMNS, 16, 6, extended=True)),
    "gradient": gradient_figure(16, 6, ROWS, COLUMNS),
    "comparison": comparison_figure(
        [Beside(name, ROWS, COLUMNS, 16, 6) for name in "abc"], [ROWS] * 3
    ),
    "norms": measures.norms_figure(analysis.row_norms(HOLED).numpy()),
    "similarity": similarity(HOLED),
    "patches": measures.patches_figure(
        analysis.patch_similarity(TABLE).cells().numpy(), analysis.row_norms(TABLE).numpy()
    ),
    "singular values": measures.singular_figure(analysis.singular_values(TABLE).numpy()),
    "waves": waves(TABLE),
    "components": components(TABLE),
}
# What is never below 0: attention, whether a row was added, norms, amplitudes.
UNSIGNED = {
    "training": {"coloraxis3"}, "lookup": {"coloraxis2"}, "lookup, extended": {"coloraxis2"},
    "patches": {"coloraxis2"}, "waves": {"coloraxis"},
}  # fmt: skip
every_figure = pytest.mark.parametrize("name", FIGURES)


def boxes(layout: dict[str, Any]) -> list[tuple[float, float, float, float]]:
    """Left, right, bottom and top of every picture."""
    rectangles = []
    for name, axis in layout.items():
        if name.startswith("xaxis"):
            up = layout[name.replace("x", "y", 1)]
            rectangles.append((*axis["domain"], *up["domain"]))
        if name == "scene":
            rectangles.append((*axis["domain"]["x"], *axis["domain"]["y"]))
    return rectangles


@every_figure
@pytest.mark.parametrize("narrow", [False, True])
def test_pictures_stand_apart_and_inside(name: str, narrow: bool) -> None:
    figure, phone = FIGURES[name]
    layout = phone if narrow else figure.layout.to_plotly_json()
    places = boxes(layout)
    assert len(places) == len(layout["annotations"])
    for left, right, bottom, top in places:
        assert 0 <= left < right <= 1
        assert 0 <= bottom < top <= 1
    for place, other in itertools.combinations(places, 2):
        beside = place[1] <= other[0] or other[1] <= place[0]
        above = place[3] <= other[2] or other[3] <= place[2]
        assert beside or above
    if narrow:
        assert all(left == 0 and right > 0.8 for left, right, *_ in places)
        assert phone["height"] > 0


@every_figure
def test_a_figure_is_packed_and_all_its_traces_have_names(name: str) -> None:
    figure, phone = FIGURES[name]
    packed = live.pack_figure(figure, narrow=phone)
    assert len(set(packed.traces)) == len(figure.data)
    assert not any(trace.startswith("trace ") for trace in packed.traces)


@every_figure
def test_every_axis_says_what_it_is(name: str) -> None:
    layout = FIGURES[name][0].layout.to_plotly_json()
    for key, axis in layout.items():
        if key.startswith("xaxis") and axis.get("showticklabels", True):
            assert axis["title"]["text"]
    assert all(note["text"].startswith("<b>") for note in layout["annotations"])


@every_figure
def test_signed_colours_are_centred_on_zero_others_begin_there(name: str) -> None:
    figure, phone = FIGURES[name]
    for key, axis in figure.layout.to_plotly_json().items():
        if key.startswith("coloraxis"):
            is_unsigned = key in UNSIGNED.get(name, ())
            assert axis["cmin"] == (0 if is_unsigned else -axis["cmax"]) < axis["cmax"]
            scale = tuple(map(tuple, axis["colorscale"]))
            assert scale == (SEQUENTIAL if is_unsigned else DIVERGING)
            assert "colorscale" not in phone.get(key, {})


def test_index_0_is_on_top_and_cells_lie_on_their_indices() -> None:
    trace = heatmap("a", 2, Span(8, 16, 4), Span(0, 6), "%{z}")
    assert (trace.x0, trace.dx, trace.y0, trace.dy) == (9.5, 4, 0, 1)
    assert (trace.xaxis, trace.yaxis) == ("x2", "y2")


def test_rows_end_alike_when_only_one_has_a_colour_bar() -> None:
    with_bar, without = Pane("a", "x", bar="coloraxis"), Pane("b", "x")
    layout = Sheet(((with_bar,), (without,)), (100, 50)).figure().layout
    assert layout.xaxis.domain == layout.xaxis2.domain
    assert layout.xaxis.domain[1] < 1
    layout = Sheet(((without, without),), (100,)).figure().layout
    assert layout.xaxis2.domain[1] == pytest.approx(1)


def test_what_is_undefined_is_a_gap() -> None:
    (cells, decay) = FIGURES["similarity"][0].data
    z = np.asarray(cells.z)
    assert np.isnan(z[3]).all()
    assert np.isnan(z[:, 7]).all()
    assert np.isfinite(z).sum() == 14 * 14
    assert all(value is not None for value in decay.y)
    none = similarity(torch.zeros(16, 6))[0].data[1]
    assert none.y == (None,) * 16
    zero = FIGURES["norms"][0].data[1]
    assert list(zero.x) == [3, 7]


def test_the_helix_is_in_space_and_its_coordinates_along_the_positions() -> None:
    figure, _ = FIGURES["components"]
    principal = analysis.principal_components(TABLE)
    *lines, curve = figure.data
    for index, axis in enumerate((curve.x, curve.y, curve.z)):
        assert list(axis) == pytest.approx(principal.curves[:, index].tolist())
        assert list(lines[index].y) == pytest.approx(list(axis))
    share = f"{principal.shares[0].item():.0%}"
    assert f"PC 1: {share} of the variance" in figure.layout.annotations[0].text


def test_a_table_of_two_columns_has_no_curve_in_space() -> None:
    flat = components(TABLE[:, :2])
    assert [trace.type for trace in flat[0].data] == ["scatter", "scatter"]
    assert "scene" not in flat[0].layout.to_plotly_json()


def test_the_frequencies_are_named_in_cycles_per_position() -> None:
    figure, _ = FIGURES["waves"]
    axis = figure.layout.xaxis
    assert axis.tickvals[-1] == 8
    assert axis.ticktext[-1] == "0.5"
    amplitudes = np.asarray(figure.data[1].z)
    assert amplitudes.shape == (6, 9)
    assert float((amplitudes**2).sum(axis=1)[0]) == pytest.approx(
        float(TABLE[:, 0].square().mean()), rel=1e-5
    )


def test_a_sinusoid_s_waves_are_drawn_without_infinities() -> None:
    table = pc.create("none", embed_dim=6).table(torch.arange(16))
    assert all(value is None for value in waves(table)[0].data[0].y)
