"""The landing page's figure as data: what is where, what moves together, and what it is called."""

from __future__ import annotations

import itertools
import re
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import posembed_core as pc
from pages._ui import live
from pages._ui.combine.words import look
from pages._ui.figures.equation import (
    NORMS,
    TERMS,
    Look,
    Panel,
    equation_figure,
    narrow_layout,
    ranges,
)
from pages._ui.theme import DASHES, HUES
from posembed_core.pictures.preview import Preview
from posembed_core.pictures.resolution import Span

CASES: dict[str, dict[str, Any]] = {
    "sum": {"slug": "sinusoidal"},
    "product": {"slug": "sinusoidal", "operation": "multiply"},
    "concatenation": {"slug": "sinusoidal", "operation": "concat"},
    "rotation": {"slug": "rope"},
    "bias": {"slug": "alibi"},
    "relative": {"slug": "shaw"},
    "normalised": {"slug": "sinusoidal", "layer_norm": pc.LayerNorm()},
}
every_case = pytest.mark.parametrize("case", CASES)


def preview(
    slug: str, shape: tuple[int, int] = (12, 8), window: Any = (None,) * 4, **more: Any
) -> Preview:
    cls = pc.encodings()[slug]
    by_role = {"length": shape[0], "dimension": shape[1]}
    sizes = {n: by_role[p.role] for n, p in cls.parameters().items() if p.role in by_role}
    return Preview(
        shape=shape, tokens=lambda: torch.zeros(shape), encoding=pc.create(slug, **sizes),
        window=window, **more,
    )  # fmt: skip


def look_of(case: str, **more: Any) -> Look:
    words = more.pop("words", ())
    return look(preview(**{**CASES[case], **more}), words)


def axis(figure: go.Figure, name: str) -> Any:
    """An axis's layout, by its short name: x, x2, y4."""
    return figure.layout[f"{name[0]}axis{name[1:]}"]


@every_case
def test_three_heatmaps_and_three_lines(case: str) -> None:
    figure = equation_figure(look_of(case))
    assert [trace.type for trace in figure.data] == ["heatmap"] * 3 + ["scatter"] * 3
    assert [trace.name for trace in figure.data[:3]] == list(TERMS)
    assert [trace.name for trace in figure.data[3:]] == [NORMS[term] for term in TERMS]
    # The plot component can address each of them, and their cells are sent separately.
    packed = live.pack_figure(figure)
    assert packed.heatmaps == set(TERMS)
    assert set(NORMS.values()) <= set(packed.traces)
    assert packed.arrays == {}


@every_case
def test_every_trace_has_axes_with_titles_or_shares_them(case: str) -> None:
    figure = equation_figure(look_of(case))
    for trace in figure.data:
        x, y = axis(figure, trace.xaxis or "x"), axis(figure, trace.yaxis or "y")
        assert x.domain[0] < x.domain[1]
        assert y.domain[0] < y.domain[1]
        assert x.title.text
        # A picture that shares the first one's rows has its labels there.
        assert y.title.text or axis(figure, "y").title.text == "dimension"
        assert y.showticklabels is not False or y.matches == "y"


@every_case
def test_pictures_do_not_overlap(case: str) -> None:
    figure = equation_figure(look_of(case))
    domains = [axis(figure, name).domain for name in ("x", "x2", "x3")]
    assert all(left[1] < right[0] for left, right in itertools.pairwise(domains))
    assert axis(figure, "y4").domain[1] < axis(figure, "y").domain[0]


@every_case
def test_all_pictures_zoom_together_along_the_positions(case: str) -> None:
    figure = equation_figure(look_of(case))
    assert [axis(figure, name).matches for name in ("x2", "x3", "x4")] == ["x"] * 3
    assert list(axis(figure, "x").range) == [-0.5, 11.5]
    assert list(axis(figure, "x4").range) == [-0.5, 11.5]


@every_case
def test_the_first_row_is_on_top(case: str) -> None:
    figure = equation_figure(look_of(case))
    for name in ("y", "y2", "y3"):
        bottom, top = axis(figure, name).range
        assert bottom > top == -0.5


def test_pictures_of_the_same_dimensions_zoom_together_and_others_do_not() -> None:
    same = equation_figure(look_of("sum"))
    assert [axis(same, name).matches for name in ("y2", "y3")] == ["y", "y"]
    wider = equation_figure(look_of("concatenation"))
    assert [axis(wider, name).matches for name in ("y2", "y3")] == ["y", None]
    assert list(axis(wider, "y3").range) == [15.5, -0.5]
    bias = equation_figure(look_of("bias"))
    assert [axis(bias, name).matches for name in ("y2", "y3")] == [None, "y"]
    assert list(axis(bias, "y2").range) == [11.5, -0.5]


def test_axes_say_what_they_are() -> None:
    bias = equation_figure(look_of("bias"))
    assert [axis(bias, n).title.text for n in ("x", "x2", "x3")] == ["position", "key", "position"]
    assert [axis(bias, n).title.text for n in ("y", "y2", "y4")] == ["dimension", "query", "norm"]
    relative = equation_figure(look_of("relative"))
    assert axis(relative, "x2").title.text == "key"


@every_case
def test_one_colour_scale_for_vectors_another_for_other_numbers(case: str) -> None:
    figure = equation_figure(look_of(case))
    own = "coloraxis2" if case in {"rotation", "bias"} else "coloraxis"
    assert [trace.coloraxis for trace in figure.data[:3]] == ["coloraxis", own, "coloraxis"]
    for scale in (figure.layout.coloraxis, figure.layout.coloraxis2):
        assert scale.cmin == -scale.cmax


@every_case
def test_each_term_has_one_hue_everywhere(case: str) -> None:
    figure = equation_figure(look_of(case))
    assert len(set(HUES.values())) == len(set(DASHES.values())) == 3
    for term, line in zip(TERMS, figure.data[3:], strict=True):
        assert line.line.color == f"var(--st-{HUES[term]}-color)"
        assert line.line.dash == DASHES[term]
    headings = [note for note in figure.layout.annotations if note.text.startswith("<b>")][:3]
    for term, heading in zip(TERMS, headings, strict=True):
        assert HUES[term] in heading.font.color


@pytest.mark.parametrize(
    ("case", "signs"),
    [
        ("sum", ("+", "=")),
        ("product", ("∘", "=")),
        ("concatenation", (";", "=")),
        ("rotation", ("R(s·i)", "=")),
        ("bias", ()),
        ("relative", ()),
        ("normalised", ("+", "LN =")),
    ],
)
def test_signs_between_the_pictures_read_as_the_equation(case: str, signs: tuple[str, ...]) -> None:
    figure = equation_figure(look_of(case))
    between = [note for note in figure.layout.annotations if not note.text.startswith("<b>")]
    assert tuple(note.text for note in between) == signs
    domains = [axis(figure, name).domain for name in ("x", "x2", "x3")]
    for note, (left, right) in zip(between, itertools.pairwise(domains), strict=False):
        assert left[1] < note.x < right[0]


@every_case
@pytest.mark.parametrize("window", [(None,) * 4, (600.0, 1800.0, 60.2, 400.4)])
def test_cells_lie_where_their_values_are(case: str, window: Any) -> None:
    shown = preview(**CASES[case], shape=(2048, 1024), window=window)
    figure = equation_figure(look(shown))
    rows, columns = shown.rows, shown.columns
    up = shown.queries if case == "bias" else columns
    for trace, height in zip(figure.data[:3], (columns, up, columns), strict=True):
        # The first cell covers whole cells of the matrix, starting with its first index.
        assert trace.x0 - trace.dx / 2 == rows.start - 0.5
        assert trace.dx == rows.step
        assert trace.dy == height.step
    assert figure.data[0].y0 - figure.data[0].dy / 2 == columns.start - 0.5
    for line in figure.data[3:]:
        assert tuple(line.x) == rows.indices


@every_case
def test_the_hover_names_what_a_cell_shows(case: str) -> None:
    shown = preview(**CASES[case], shape=(2048, 1024))
    figure = equation_figure(look(shown))
    first = figure.data[0].meta
    assert first["across"] == list(shown.rows.indices)
    assert first["up"] == list(shown.columns.indices)
    small = preview(**CASES[case], shape=(40, 16))
    assert all(trace.meta is None for trace in equation_figure(look(small)).data)


@every_case
def test_a_badge_on_each_picture_says_what_its_cells_are_of(case: str) -> None:
    shown = preview(**CASES[case], shape=(2048, 1024))
    figure = equation_figure(look(shown))
    badges = [note for note in figure.layout.annotations if note.text.startswith("1 of")]
    rows, up = shown.rows.step, shown.queries if case == "bias" else shown.columns
    columns = shown.columns.step
    assert [note.text for note in badges] == [
        f"1 of {rows} × {step} values" for step in (columns, up.step, columns)
    ]
    for note, name in zip(badges, ("", "2", "3"), strict=True):
        assert note.x == axis(figure, f"x{name}").domain[1]
        assert note.y == axis(figure, f"y{name}").domain[0]
    small = equation_figure(look(preview(**CASES[case], shape=(40, 16))))
    assert not [note for note in small.layout.annotations if note.text.startswith("1 of")]


def test_a_concatenations_second_half_follows_the_first() -> None:
    shown = preview("sinusoidal", (40, 1024), (None, None, 512.0, 1023.0), operation="concat")
    _, _, combined = look(shown).panels
    dimensions = shown.columns.indices
    assert combined.rows.indices == (*dimensions, *(1024 + i for i in dimensions))
    half = shown.columns.cells * shown.columns.step
    assert combined.rows.start + half == 2 * shown.columns.start + half
    assert combined.height >= combined.rows.stop


@every_case
def test_on_a_phone_the_pictures_are_side_by_side_above_the_norms(case: str) -> None:
    shape = look_of(case)
    figure, narrow = equation_figure(shape), narrow_layout(shape)
    across = [narrow[f"xaxis{name}"]["domain"] for name in ("", "2", "3")]
    for left, right in pairwise(across):
        assert 0 <= left[0] < left[1] < right[0] < right[1] <= 1
    tops = {tuple(narrow[f"yaxis{name}"]["domain"]) for name in ("", "2", "3")}
    assert len(tops) == 1
    assert 0 == narrow["yaxis4"]["domain"][0] < narrow["yaxis4"]["domain"][1] < min(tops)[0]
    # The bars, one below the other, between the two.
    has_two = case in {"rotation", "bias"}
    bars = [narrow[f"coloraxis{name}"]["colorbar"]["y"] for name in ("", "2")[: 1 + has_two]]
    assert bars == sorted(bars)
    assert all(narrow["yaxis4"]["domain"][1] < y < min(tops)[0] for y in bars)
    # Plotly knows each of its attributes.
    assert go.Figure(figure.data, layout=narrow).layout.height < 550
    words = [note["text"] for note in narrow["annotations"]]
    assert all(f"<b>{panel.symbol}</b>" in words for panel in shape.panels)


@every_case
def test_on_a_phone_a_picture_with_rows_of_its_own_has_room_for_their_labels(case: str) -> None:
    shape = look_of(case)
    merged = equation_figure(shape).update_layout(narrow_layout(shape))
    for index, name in enumerate(("x", "x2", "x3")):
        own = axis(merged, name.replace("x", "y"))
        if index and own.showticklabels:
            room = axis(merged, name).domain[0] - shape.narrow_places[index - 1][1]
            assert room * 316 >= 35  # pixels of a phone of 390


# --- the tokens of a sentence ---


def test_tokens_label_the_positions() -> None:
    words = tuple(f"w{i}" for i in range(12))
    figure = equation_figure(look_of("sum", words=words))
    assert tuple(axis(figure, "x4").ticktext) == words
    assert tuple(axis(figure, "x4").tickvals) == tuple(range(12))


def test_zoomed_tokens_label_the_positions_that_are_seen() -> None:
    words = tuple(f"w{i}" for i in range(12))
    figure = equation_figure(look_of("sum", words=words, window=(3.0, 5.0, None, None)))
    assert tuple(axis(figure, "x4").ticktext) == ("w3", "w4", "w5")
    assert tuple(axis(figure, "x4").tickvals) == (3, 4, 5)


def test_many_tokens_are_numbers() -> None:
    words = tuple(f"w{i}" for i in range(100))
    figure = equation_figure(look_of("sum", words=words, shape=(100, 8)))
    assert axis(figure, "x4").ticktext is None
    zoomed = look_of("sum", words=words, shape=(100, 8), window=(97.0, 99.0, None, None))
    assert tuple(axis(equation_figure(zoomed), "x4").ticktext) == ("w97", "w98", "w99")


MARKUP = ("<b>bold</b>", "<s>", "</s>", "&lt;", "<br>", "a<b", '<a href="http://x">x</a>')


def test_tokens_are_text_and_no_markup() -> None:
    # Plotly interprets a few HTML tags in labels: RoBERTa's <s> would strike out what follows.
    words = MARKUP + ("w",) * (12 - len(MARKUP))
    figure = equation_figure(look_of("sum", words=words))
    for label, word in zip(axis(figure, "x4").ticktext, words, strict=True):
        assert "<" not in label
        assert label.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == word


# --- what moves with a frame ---

positive = st.floats(1e-6, 1e6)


@given(peak=positive, own=positive, usual=positive, times=st.floats(0, 3))
def test_ranges_hold_what_is_shown_and_stay_symmetric(
    peak: float, own: float, usual: float, times: float
) -> None:
    patch = ranges(peak, own, usual, usual * times)
    assert -patch["coloraxis.cmin"] == patch["coloraxis.cmax"] >= peak * (1 - 1e-8)
    assert -patch["coloraxis2.cmin"] == patch["coloraxis2.cmax"] >= own * (1 - 1e-8)
    low, high = patch["yaxis4.range"]
    assert low == 0.0
    assert high >= max(usual, usual * times) * (1 - 1e-8)


def test_the_axis_of_the_norms_grows_in_whole_marked_steps() -> None:
    still = ranges(1.0, 1.0, 12.0, 3.0)
    assert still == ranges(1.0, 1.0, 12.0, 14.9)
    assert (still["yaxis4.range"][1], still["yaxis4.title.text"]) == (15 * 1.04, "norm")
    grown = ranges(1.0, 1.0, 12.0, 30.1)
    assert grown["yaxis4.range"][1] == pytest.approx(3 * 15 * 1.04)
    assert grown["yaxis4.title.text"] == "norm (axis × 3)"


def test_a_bars_ends_say_what_lies_beyond() -> None:
    patch = ranges(1.2, 0.05, 1.0, 1.0, (True, False), (False, True))
    assert patch["coloraxis.colorbar.tickvals"] == [-1.5, -0.75, 0.0, 0.75, 1.5]
    assert patch["coloraxis.colorbar.ticktext"] == ["≤ −1.5", "−0.75", "0", "0.75", "1.5"]
    assert patch["coloraxis2.colorbar.ticktext"][::4] == ["−0.05", "≥ 0.05"]


@every_case
def test_a_picture_with_colours_of_its_own_has_a_bar_beside_it(case: str) -> None:
    figure = equation_figure(look_of(case))
    bar, right = figure.layout.coloraxis2, axis(figure, "x2").domain[1]
    assert bar.showscale == (case in {"rotation", "bias"})
    assert bar.colorbar.x == right
    assert figure.layout.coloraxis.colorbar.x == axis(figure, "x3").domain[1] == 1.0


@pytest.mark.parametrize(("length", "dtick"), [(1, 1), (4, 1), (6, 1), (7, None), (128, None)])
def test_there_is_no_tick_between_two_positions(length: int, dtick: int | None) -> None:
    figure = equation_figure(look_of("sum", shape=(length, 8)))
    assert axis(figure, "x").dtick == dtick


@pytest.mark.parametrize(("length", "mode"), [(1, "lines+markers"), (128, "lines")])
def test_few_norms_are_marked_one_by_one(length: int, mode: str) -> None:
    figure = equation_figure(look_of("sum", shape=(length, 8)))
    assert {trace.mode for trace in figure.data[3:]} == {mode}


@every_case
def test_a_frame_patches_attributes_that_the_figure_has(case: str) -> None:
    layout = equation_figure(look_of(case)).to_dict()["layout"]
    for path in ranges(1.0, 1.0, 1.0, 1.0):
        part = layout
        for name in path.split("."):
            assert name in part
            part = part[name]


def test_the_scale_changes_nothing_but_the_patch() -> None:
    # A look is the key of the packed figure: equal looks share one figure, sent once.
    assert look_of("sum") == look_of("sum")
    assert hash(look_of("sum")) == hash(look_of("sum"))
    assert look_of("sum") != look_of("product")


def test_colours_come_from_the_theme() -> None:
    text = equation_figure(look_of("sum", words=("a",) * 12)).to_json()
    assert re.findall(r"#[0-9a-fA-F]{6}\b", text) == []


def test_a_panel_may_show_one_cell() -> None:
    panel = Panel("p", "s", Span(0, 1), 1)
    figure = equation_figure(Look((panel, panel, panel), Span(0, 1), 1, ("+", "=")))
    assert list(axis(figure, "x").range) == [-0.5, 0.5]
    assert list(figure.data[3].x) == [0.0]
