"""The page about attention, as a visitor's session runs it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

import posembed_core as pc
from pages._ui.attention.inputs import Scene, column, inputs, shifted_or_why, shuffled
from pages._ui.attention.settings import COMPARED
from pages._ui.attention.words import shift_said, shift_table, shuffle_said
from posembed_core.evidence import PARITY
from tests.visits import arrived

NONE = column("none", {}, inputs(Scene(False, "one two three")).projections)
VIEWS = ["weights", "shuffle", "shift", "four", "distance"]


def visit(params: Mapping[str, str] | None = None, page: str = "attention") -> AppTest:
    """The page at a link."""
    return arrived(page, params)


def link(app: AppTest) -> dict[str, str]:
    """The page's settings in the URL (a list where the visitor's link has it, else a text)."""
    params = dict(app.query_params)
    return {name: value[0] if isinstance(value, list) else value for name, value in params.items()}


def words(app: AppTest) -> str:
    """All that the page says in Markdown."""
    return "\n".join(element.value for element in app.markdown)


def plots(app: AppTest) -> int:
    return sum(b"figure" in element.proto.bytes for element in app.get("bidi_component"))


def columns(app: AppTest) -> list[str]:
    """The choices of the four menus of encodings."""
    labels = ("Encoding", "Second", "Third", "Fourth")
    return [box.value for label in labels for box in app.selectbox if box.label == label]


def complaints(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.warning, *app.error, *app.info])


def frame(app: AppTest) -> dict[str, Any]:
    """What the browser is told to draw: the header of the plot's packet."""
    (data,) = (
        element.proto.bytes
        for element in app.get("bidi_component")
        if b'"figure"' in element.proto.bytes
    )
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


def rows(app: AppTest, heading: str) -> dict[str, list[str]]:
    """The rows of the table whose first line has this heading, by their first cell."""
    (table,) = (
        element.value for element in app.markdown if heading in element.value.splitlines()[0]
    )
    lines = table.replace("−", "-").splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {row[0]: row[1:] for row in cells}


def test_the_first_visit_compares_no_position_with_each_family() -> None:
    app = visit()
    assert plots(app) == 1
    assert tuple(columns(app)) == COMPARED
    assert {pc.encodings()[slug].door for slug in COMPARED} == {
        "none",
        "input",
        "scores",
        "projections",
    }
    assert not complaints(app)
    assert link(app) == {}


def test_differences_are_taken_from_the_first_in_the_browser() -> None:
    drawn = frame(visit({"encodings": "none_alibi_t5"}))
    assert drawn["mixes"]["changes 1"] == [["weights 1", 1.0], ["weights 0", -1.0]]
    assert "changes 0" not in drawn["mixes"]
    assert len(drawn["needs"]) == 6
    # The temperature changes no score, so only weights are sent.
    warmer = frame(visit({"encodings": "none_alibi_t5", "temperature": "2"}))
    for name, part in drawn["needs"].items():
        assert (warmer["needs"][name] == part) == name.startswith("scores"), name
    # Without a mask every cell has a value; with one, the upper half has none.
    assert frame(visit({"encodings": "none_alibi_t5", "causal": "true"}))["needs"] != drawn["needs"]


@pytest.mark.parametrize("slug", pc.encodings())
@pytest.mark.parametrize("view", VIEWS)
def test_every_encoding_can_be_chosen_in_every_view(slug: str, view: str) -> None:
    app = visit({"encodings": f"none_{slug}", "view": view, "text": "two words"})
    assert plots(app) == (2 if view == "shuffle" else 1)
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("view", VIEWS)
def test_a_link_keeps_what_another_view_asks_for(view: str) -> None:
    params = {
        "view": view,
        "encodings": "alibi_model_t5",
        "text": "a b",
        "head": "7",
        "causal": "true",
        "scale": "0.5",
        "temperature": "2",
        "shift": "33",
        "shuffle": "9",
        "cell": "1_0_1",
        "t5.num_buckets": "16",
    }
    app = visit(params)
    assert not complaints(app)
    app.run()
    assert link(app) == {name: value for name, value in params.items() if value != "weights"}


def test_a_bad_link_is_corrected_and_reported() -> None:
    app = visit(
        {
            "encodings": "rope_ropy",
            "head": "13",
            "scale": "-1",
            "view": "tea",
            "colour": "red",
            "temperature": "0",
        }
    )
    text = complaints(app)
    for part in ("ropy", "head=13", "between 1 and 12", "scale=-1", "tea", "colour", "temperature"):
        assert part in text, f"{part!r} is not explained: {text}"
    assert columns(app) == ["rope", "", "", ""]
    assert plots(app) == 1


def test_an_encoding_chosen_twice_is_one_column() -> None:
    app = visit()
    (third,) = (box for box in app.selectbox if box.label == "Third")
    third.select("sinusoidal").run()
    assert link(app) == {"encodings": "none_sinusoidal_rope"}
    assert not complaints(app)


def test_fields_that_do_not_fit_leave_the_other_columns() -> None:
    app = visit({"encodings": "none_kerple", "kerple.bias_p": "1_2"})
    (error,) = app.error
    assert "12 numbers, one for each head, or none, got 2" in error.value
    assert plots(app) == 1


def test_the_shuffle_test_prints_its_errors() -> None:
    app = visit({"view": "shuffle", "encodings": "none_sinusoidal_learned_model"})
    errors = rows(app, "f(PX)")
    assert float(errors["None (NoPE)"][0]) < 1e-5
    assert float(errors["None (NoPE)"][2]) > 1
    for title in ("Sinusoidal", "Learned", "The model's own table"):
        assert float(errors[title][0]) > 1e-2
    assert "**None (NoPE)**: under this shuffle the outputs only change places" in words(app)
    assert "With a causal mask **None (NoPE)** notices this shuffle, too" in words(app)


@pytest.mark.parametrize("tokens", ["model", "random"])
def test_without_position_the_error_is_rounding(tokens: str) -> None:
    text = " ".join(f"word{index % 40}" for index in range(62))
    for scale in ("0", "1"):
        params = {"view": "shuffle", "tokens": tokens, "text": text, "scale": scale}
        errors = rows(visit(params), "f(PX)")
        assert float(errors["None (NoPE)"][0]) < 1e-5
        assert (float(errors["Sinusoidal"][0]) > 1e-2) == (scale == "1")


TEXTS = ("dog bites", "dog", "dog dog dog", "dog bites dog", "dog bites man", "a b b",
         "the keys to the cabinet are on the table", "a a a a b a a a a a", "one two")  # fmt: skip
POSITIONAL = [slug for slug in pc.encodings() if slug not in {"none", "learned"}]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(POSITIONAL),
    st.sampled_from(TEXTS),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_what_a_shuffle_says_is_what_it_tested(
    slug: str, text: str, seed: int, scale: float
) -> None:
    scene, projections = Scene(False, text), inputs(Scene(False, text)).projections
    both = [column(name, {}, projections) for name in ("none", slug)]
    plain, masked = (
        [shuffled(scene, encoding, seed, scale, causal, 1.0) for encoding in both]
        for causal in (False, True)
    )
    sentences = shuffle_said(["Nothing at all", "Mine"], plain, masked, scale, 3)
    tokens = text.split()
    moved = [tokens[index] for index in plain[0].permutation.tolist()]
    assert "cannot tell" not in sentences
    if len(set(tokens)) == 1:
        assert "**Nothing was tested**" in sentences
        assert "notice" not in sentences
        return
    assert moved != tokens
    assert ("At scale 0" in sentences) == (scale == 0)
    assert "Nothing at all**: the same token gets another" not in sentences
    noticed = "**Mine**: the same token gets another output" in sentences
    # The greatest change in the fourth head, of all entries of all columns.
    mine = plain[1].after[3] - plain[1].before[3][plain[1].permutation]
    change = re.search(r"other columns, in head 4 by up to ([\d.e−]+)\.", sentences)
    assert (change is not None) == noticed
    if change:
        assert float(change[1].replace("−", "-")) == pytest.approx(
            mine.abs().max().item(), rel=1e-2
        )
    if scale == 0:
        assert not noticed
    elif len(tokens) > 2:
        assert noticed
        assert moved != tokens[::-1]
    if not noticed and len(tokens) == 2:
        assert "**nothing was tested** of what depends on distances alone" in sentences
    blind = "Nothing at all" if noticed else "Nothing at all; Mine"
    verb = "notices" if noticed else "notice"
    assert f"With a causal mask **{blind}** {verb} this shuffle" in sentences


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(POSITIONAL),
    st.sampled_from(TEXTS),
    st.sampled_from([0, 1, 100, 2000]),
    st.sampled_from([0.0, 1.0]),
)
def test_what_a_shift_says_is_what_it_tested(slug: str, text: str, by: int, scale: float) -> None:
    scene = Scene(False, text)
    encoding = column(slug, {}, inputs(scene).projections)
    table = shift_table(["Mine"], [shifted_or_why(scene, encoding, by, scale)], by, scale)
    sentences = shift_said(by, len(text.split()), 0)
    if by == 0:
        assert "not tested" in table
        assert "**nothing was tested**" in sentences
    elif scale == 0:
        assert "not tested: at scale 0 no position enters" in table
    else:
        noticed = isinstance(encoding, pc.AdditiveEncoding)
        # An encoding whose frequencies depend on the length does notice a much longer one.
        if slug not in {"rope-dynamic", "rope-longrope", "fire"}:
            assert ("| notices |" in table) == noticed
        assert "not tested" not in table


def test_each_shuffle_makes_another_text_and_stands_in_the_link() -> None:
    app = visit({"view": "shuffle", "tokens": "random", "text": "one two three"})
    orders = []
    for _ in range(6):
        seed = int(link(app).get("shuffle", "1"))
        order = shuffled(Scene(False, "one two three"), NONE, seed, 1.0, False, 1.0).permutation
        orders.append(tuple(order.tolist()))
        (button,) = (button for button in app.button if button.label == "Shuffle")
        button.click().run()
    assert all(now != before for before, now in itertools.pairwise(orders))
    locked = visit({"view": "shuffle", "lock": "shuffle"})
    hidden = visit({"view": "shuffle", "hide": "shuffle"})
    assert [button.disabled for button in locked.button if button.label == "Shuffle"] == [True]
    assert not [button for button in hidden.button if button.label == "Shuffle"]


def test_a_sentence_without_another_order_has_nothing_to_shuffle() -> None:
    for text, is_stuck in (("dog dog", True), ("dog", True), ("dog bites man", False)):
        app = visit({"view": "shuffle", "text": text})
        buttons = [button for button in app.button if button.label == "Shuffle"]
        assert [button.disabled for button in buttons] == [is_stuck]


def test_special_tokens_stay_where_they_are() -> None:
    app = visit({"view": "shuffle", "text": "dog bites"})
    assert "The tokens but `[CLS]` and `[SEP]` change places" in words(app)
    # Between two tokens that stay, two words turned around are another order.
    assert "nothing was tested" not in words(app).lower()
    for text, why in (("dog", "there is only one token to move"),
                      ("dog dog", "all tokens that move are equal")):  # fmt: skip
        page = words(visit({"view": "shuffle", "text": text}))
        assert f"**Nothing was tested**: {why}, so every order is the same text." in page


def test_two_words_and_one_are_not_said_to_have_no_order() -> None:
    for text in ("dog bites", "dog"):
        for seed in ("1", "2", "3"):
            app = visit({"view": "shuffle", "tokens": "random", "text": text, "shuffle": seed,
                         "encodings": "none_sinusoidal_alibi_rope"})  # fmt: skip
            assert "thing was tested**" in words(app)
            assert "Sinusoidal**: under this shuffle" not in words(app)
            assert ("**Sinusoidal; RoPE**: the same token gets another" in words(app)) == (
                text == "dog bites"
            )


def test_the_shift_test_says_who_notices() -> None:
    app = visit({"view": "shift", "shift": "505", "encodings": "sinusoidal_alibi_learned_rope"})
    by_title = rows(app, "greatest change")
    assert by_title["Sinusoidal"][2] == "notices"
    assert float(by_title["Sinusoidal"][0]) > 1e-2
    for title in ("ALiBi", "RoPE"):
        assert by_title[title][2] == "does not notice (rounding)"
        assert float(by_title[title][0]) < 1e-9
    assert by_title["Learned"] == ["–", "–", "position 512 has no row in a table of 512 rows"]


@pytest.mark.parametrize("of", ["sinusoidal", "learned", "model"])
def test_the_four_terms_add_up(of: str) -> None:
    app = visit({"view": "four", "encodings": "sinusoidal_learned_model_rope", "of": of})
    (residual,) = re.findall(r"over all heads, by at most \*\*(.+?)\*\*", words(app))
    assert float(residual.replace("−", "-")) < 1e-5


def test_nothing_splits_where_nothing_is_added() -> None:
    app = visit({"view": "four", "encodings": "alibi_rope"})
    assert "choose such an encoding" in complaints(app)
    assert plots(app) == 0


def test_claims_stand_beside_computed_values() -> None:
    app = visit({"view": "distance", "encodings": "alibi_rope_t5", "head": "1"})
    text = words(app)
    # Twelve heads begin with the slopes of eight: 1/2 comes first.
    assert "ln 2 / m = 1.3863 tokens | 1.3863 tokens |" in text
    assert "never above the bound" in text
    assert "| holds |" in text
    assert (
        "| one distance each, then more; all from 128 on share the last | 0 to 7 one each; 8–11, "
        in text
    )


def test_a_cell_is_explained_and_adds_up() -> None:
    app = visit({"cell": "2_2_5", "temperature": "2"})
    text = words(app).replace("−", "-")
    number = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
    content = float(re.search(rf"times {number} = \*\*{number}\*\*", text)[2])
    added = float(re.search(rf"adds :orange\[{number}\]", text)[1])
    score = float(re.search(rf"= \*\*{number}\*\*; divided by", text)[1])
    logit = float(re.search(rf"the temperature 2 = {number}", text)[1])
    assert content + added == pytest.approx(score, abs=1e-7)
    assert logit == pytest.approx(score / 2, abs=1e-7)
    weight = float(re.search(rf"= \*\*{number}\*\*: the softmax over 11 keys", text)[1])
    assert f"| 5 `cabinet` | {logit:.9g} |" in text
    assert f"| {weight:.9g} |" in text


def test_without_a_model_words_are_random(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("POSEMBED_MODEL", str(tmp_path))
    for params in ({}, {"tokens": "model"}):
        app = visit(params)
        assert plots(app) == 1
        (menu,) = (box for box in app.selectbox if box.label == "Encoding")
        assert "The model's own table" not in menu.options
        assert not app.error
    assert "the sentence split at spaces, with random vectors" in complaints(app)


def test_a_text_without_words_and_a_long_one() -> None:
    app = visit({"tokens": "random", "text": "  "})
    assert "write at least one" in complaints(app)
    app = visit({"text": "word " * 300})
    assert "Only the first 128 of 302 tokens can be shown." in complaints(app)
    assert plots(app) == 1


def test_the_about_box_says_what_was_tested() -> None:
    text = words(visit({"encodings": "alibi_t5"}))
    for parity in PARITY:
        shown = {"alibi", "t5", "table"} & set(parity.slugs)
        assert (f"**{parity.implementation}**" in text) == bool(shown), parity.id


@pytest.mark.parametrize("page", ["combine", "table", "long_context", "compare"])
def test_every_page_has_an_about_box(page: str) -> None:
    app = visit(page=page)
    assert [expander.label for expander in app.expander].count(
        "What these numbers were checked against"
    ) == 1
    assert "Law: " in words(app)
