"""The figures about a model's RoPE, read as data."""

from __future__ import annotations

import math

import pytest

import posembed_core as pc
from pages._ui.figures.rope_pairs import QUANTITIES, SYMBOLS, Pairs, pairs_figure
from pages._ui.figures.rope_scores import Curve, distance_figure
from pages._ui.figures.two_pictures import Lengths, narrow_layout
from pages._ui.long_context.pictures import score_columns
from posembed_core.long_context.pairs import KINDS, pair_table
from posembed_core.model_config import known_configs

LENGTHS = Lengths(trained=8192, wanted=131072)


def llama(quantity: str = "wavelength", slug: str = "") -> tuple[Pairs, dict[str, object]]:
    encoding = pc.create(slug) if slug else pc.rotary_from_config(known_configs()["Llama 3.1 8B"])
    table = pair_table(encoding, 131072)
    before, after = table.phases(131072)
    pairs = Pairs(
        frequency=(table.before.tolist(), table.after.tolist()),
        kind=table.kind,
        position=131072,
        phase=(before.tolist(), after.tolist()),
        seen=table.seen(8192).tolist(),
    )
    return pairs, pairs_figure(pairs, LENGTHS, quantity).to_dict()


def test_every_kind_of_pair_has_a_symbol() -> None:
    assert set(SYMBOLS) == set(KINDS)
    assert len(set(SYMBOLS.values())) == len(KINDS)


def test_wavelengths_of_every_pair_before_and_after() -> None:
    pairs, figure = llama()
    traces = {trace["name"]: trace for trace in figure["data"]}
    plain = traces["plain RoPE"]
    assert list(plain["y"]) == [2 * math.pi / value for value in pairs.frequency[0]]
    drawn = {}
    for kind in ("untouched", "blended", "interpolated"):
        drawn |= dict(zip(traces[kind]["x"], traces[kind]["y"], strict=True))
    assert [drawn[pair] for pair in range(64)] == [2 * math.pi / v for v in pairs.frequency[1]]
    assert list(traces["blended"]["x"]) == list(range(29, 35))
    assert list(traces["angle, scaled"]["y"]) == list(pairs.phase[1])
    assert list(traces["seen in training"]["y"]) == list(pairs.seen)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_lengths_are_lines_within_the_axis(quantity: str) -> None:
    _, figure = llama(quantity)
    low, high = figure["layout"]["yaxis"]["range"]
    heights = [shape["y0"] for shape in figure["layout"]["shapes"]]
    expected = [8192, 131072] if quantity == "wavelength" else [math.tau / 8192, math.tau / 131072]
    assert heights == expected
    assert all(low < math.log10(height) < high for height in heights)
    texts = {note["text"] for note in figure["layout"]["annotations"]}
    assert {"trained 8,192", "wanted 131,072"} < texts
    for trace in figure["data"]:
        if trace.get("xaxis") != "x2":
            assert all(low < math.log10(value) < high for value in trace["y"])


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_length_that_no_config_gives_is_assumed(quantity: str) -> None:
    pairs, _ = llama(quantity)
    curve = Curve([1.0, 1e6], [1.0, 0.5])
    for lengths in (Lengths(8192, 131072, is_given=False), Lengths(4096, 4096, is_given=False)):
        figures = (
            pairs_figure(pairs, lengths, quantity),
            distance_figure(curve, curve, {"all": curve}, "all", lengths),
        )
        for figure in figures:
            assert "train" not in figure.to_json()
            assert "assumed" in figure.to_json()
    (seen,) = (trace for trace in figures[0].data if trace.yaxis == "y2" and trace.fill)
    assert seen.hovertemplate.startswith("pair %{x}: over 4,096 positions up to")


def test_pairs_that_stand_still_have_no_wavelength() -> None:
    _, figure = llama(slug="rope-proportional")
    (still,) = (trace for trace in figure["data"] if trace["name"] == "still")
    assert len(still["y"]) == 24
    assert not any(still["y"])


def test_equal_lengths_are_one_line() -> None:
    curve = Curve([1.0, 1e6], [1.0, 0.5])
    figure = distance_figure(curve, curve, {"all": curve}, "all", Lengths(4096, 4096))
    assert [shape["x0"] for shape in figure.layout.shapes] == [4096, 4096]
    assert "trained and wanted" in {note["text"] for note in figure.layout.annotations}


def test_the_chosen_arithmetic_stands_out() -> None:
    columns = score_columns(pc.create("rope-yarn"), 16384)
    curve = Curve(columns["to"][1:].tolist(), columns["score_after"][1:].tolist())
    errors = {"exact": Curve([1, 2], [0.0, 1e-3]), "rounded": Curve([1, 2], [1e-2, 2.0])}
    figure = distance_figure(curve, curve, errors, "rounded", LENGTHS)
    lines = {trace.name: trace for trace in figure.data}
    assert lines["rounded"].line.dash is None
    assert lines["exact"].line.dash == "dot"
    # An error of zero has no place on a logarithmic axis.
    assert lines["exact"].y == (None, 1e-3)
    assert columns["score_after"][0] == pytest.approx(
        pc.create("rope-yarn").attention_factor() ** 2
    )


def test_on_a_phone_the_pictures_stand_above_one_another() -> None:
    pairs, _ = llama()
    layout = narrow_layout(pairs_figure(pairs, LENGTHS, "wavelength"))
    (low, high), (upper_low, _) = layout["yaxis2"]["domain"], layout["yaxis"]["domain"]
    assert low == 0 < high < upper_low
    headings = [note for note in layout["annotations"] if note["yref"] == "paper"]
    assert [(note["x"], note["y"]) for note in headings] == [(0.5, 1.0), (0.5, high)]
