"""From page to page by the menu: what goes along, what stays, and what a page says of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages._ui import attention, combine, compare, table
from pages._ui.attention.settings import COMPARED
from pages._ui.controls.along import ENCODING, Params, Sharing, fill, learn
from pages._ui.controls.choices import Sizes
from posembed_core import EncodingError, encodings
from tests.visits import arrived

PAGES: dict[str, Sharing] = {
    "combine": combine.shared,
    "attention": attention.shared,
    "compare": compare.shared,
    "table": table.shared,
}


def url(app: AppTest) -> dict[str, str]:
    """The settings in the URL."""
    params = dict(app.query_params)
    return {name: value[0] if isinstance(value, list) else value for name, value in params.items()}


def by_menu(app: AppTest, page: str) -> dict[str, str]:
    """Press the page's link in the menu, which names no settings; the settings there."""
    return by_link(app, page)


def by_link(app: AppTest, page: str, **params: str) -> dict[str, str]:
    """Go to a page at a link that names these settings; the settings there."""
    app.query_params.clear()
    for name, value in params.items():
        app.query_params[name] = value
    app.switch_page(f"{page}.py")
    app.run()
    assert not app.exception
    return url(app)


def said(app: AppTest) -> str:
    return " ".join(element.value for element in (*app.warning, *app.error))


def test_what_was_set_goes_along_and_each_page_goes_on_as_it_was_left() -> None:
    app = arrived("combine")
    for name, value in {"encoding": "learned", "operation": "multiply"}.items():
        app.selectbox(key=f"combine.{name}").set_value(value).run()
    left = {"encoding": "learned", "operation": "multiply"}
    assert by_menu(app, "attention") == {"encodings": "none_sinusoidal_alibi_learned"}
    app.number_input(key="attention.head").set_value(7).run()
    app.text_input(key="attention.text").set_value("a b c").run()
    attended = url(app)
    assert attended == {
        "encodings": "none_sinusoidal_alibi_learned",
        "head": "7",
        "text": "a b c",
    }
    assert by_menu(app, "long_context") == {}
    app.selectbox(key="long-context.quantity").select_index(1).run()
    stretched = url(app)
    assert list(stretched) == ["quantity"]
    assert by_menu(app, "lesson") == {}
    # Random tokens have no sentence.
    assert by_menu(app, "combine") == left
    assert by_menu(app, "attention") == attended
    assert by_menu(app, "long_context") == stretched
    assert said(app) == ""
    # The widgets follow, too.
    by_menu(app, "attention")
    assert app.number_input(key="attention.head").value == 7


def test_a_size_that_a_page_cannot_have_is_clipped_with_a_word_said_once() -> None:
    app = arrived("combine", {"dimension": "48", "length": "4096"})
    assert by_menu(app, "compare") == {"length": "256"}
    assert (
        "Dimension 48 came along, but dimension must be 16, 32, 64, 128 or 256. Shown instead: 64."
        in said(app)
    )
    assert (
        "Length 4096 came along, but length must be 16, 32, 64, 128 or 256. Shown instead: 256."
        in said(app)
    )
    assert by_menu(app, "table") == {"max_seq_len": "256", "embed_dim": "48"}
    assert "Max length 4096 came along, but max_seq_len must be between 8 and 256. Shown" in said(
        app
    )
    # What was clipped was nobody's wish: it doesn't come back, and isn't said again.
    assert by_menu(app, "combine") == {"dimension": "48", "length": "4096"}
    assert by_menu(app, "compare") == {"length": "256"}
    assert said(app) == ""
    app.selectbox(key="compare.dimension").set_value("16").run()
    assert by_menu(app, "combine") == {"dimension": "16", "length": "4096"}
    assert by_menu(app, "table") == {"max_seq_len": "256", "embed_dim": "16"}
    assert said(app) == ""


def test_a_default_that_was_chosen_again_goes_along_too() -> None:
    app = arrived("combine", {"dimension": "32"})
    assert by_menu(app, "compare") == {"dimension": "32"}
    app.selectbox(key="compare.dimension").set_value("64").run()
    assert by_menu(app, "combine") == {}
    assert by_menu(app, "compare") == {}


def test_a_link_is_what_it_says_whatever_went_along() -> None:
    app = arrived("combine", {"dimension": "32", "scale": "2", "encoding": "alibi"})
    by_menu(app, "compare")
    assert by_link(app, "attention", scale="3", head="2") == {"scale": "3", "head": "2"}
    assert by_link(app, "compare", view="norms") == {"view": "norms"}
    assert by_link(app, "combine", length="10") == {"length": "10"}
    # And from here on the link's settings go along, its defaults as well.
    assert by_menu(app, "attention") == {"head": "2"}
    assert by_menu(app, "compare") == {"view": "norms", "length": "16"}


def test_an_encodings_own_fields_go_with_it_and_leave_with_it() -> None:
    app = arrived("combine", {"encoding": "rope", "base": "500000"})
    assert by_menu(app, "attention") == {"rope.base": "500000"}
    app.selectbox(key="attention.encodings.3").set_value("learned").run()
    assert by_menu(app, "combine") == {"encoding": "learned"}
    assert app.number_input(key="combine.seed").value == 42
    assert said(app) == ""


def test_a_sentence_has_no_place_among_random_tokens() -> None:
    assert "text" not in combine.shared({}).fields
    assert "text" in combine.shared({"tokens": "sentence"}).fields
    assert "dimension" not in combine.shared({"tokens": "sentence"}).fields


def test_a_sentence_of_another_page_is_there_once_one_is_shown() -> None:
    app = arrived("attention", {"tokens": "random", "text": "a b c"})
    by_menu(app, "combine")
    app.selectbox(key="combine.tokens").set_value("sentence").run()
    assert app.text_input(key="combine.text").value == "a b c"
    assert url(app)["text"] == "a b c"
    app.text_input(key="combine.text").set_value("d e").run()
    assert by_menu(app, "attention") == {"tokens": "random", "text": "d e"}


TEXTS = {
    "length": st.integers(1, 8192).map(str),
    "dimension": st.integers(2, 4096).map(str),
    "scale": st.integers(0, 500).map(lambda hundredths: f"{hundredths / 100:g}"),
    "text": st.sampled_from(["a b", "The keys"]),
    ENCODING: st.sampled_from(sorted(encodings())),
}


@given(along=st.fixed_dictionaries({}, optional=TEXTS), page=st.sampled_from(sorted(PAGES)))
def test_what_a_page_is_filled_with_it_can_show(along: dict[str, str], page: str) -> None:
    sharing = PAGES[page]
    params = fill(along, sharing, {}, {})
    own = sharing(params).own()
    for name, text in along.items():
        if name in own:
            assert own[name].shown(params) == text
            own[name].parameter.parse(own[name].name, own[name].nearest(text))
    if ENCODING in along and sharing(params).encoding:
        assert along[ENCODING] in sharing(params).slugs
        assert len(sharing(params).slugs) <= sharing(params).most
    # Filling twice changes nothing, and what is filled teaches nothing new.
    assert fill(along, sharing, params, {}) == params
    again = dict(along)
    learn(again, sharing, params, params)
    assert again == along


def test_a_list_takes_the_place_of_its_last_encoding() -> None:
    last: Params = {"encodings": "none_alibi"}
    along = {ENCODING: "learned"}
    assert fill(along, attention.shared, last, {})["encodings"] == "none_alibi_learned"
    assert fill(along, attention.shared, {}, {})["encodings"] == "_".join(
        (*COMPARED[:3], "learned")
    )


def test_an_encoding_that_was_taken_away_does_not_come_back() -> None:
    along = {ENCODING: "alibi"}
    before, after = {"encodings": "none_alibi"}, {"encodings": "none"}
    learn(along, attention.shared, before, after)
    assert along == {}
    learn(along, attention.shared, after, {"encodings": "none_rope"})
    assert along == {ENCODING: "rope"}


def test_a_size_between_two_is_the_nearer_one_in_ratio() -> None:
    sizes = Sizes("Length", options=("16", "32", "64"))
    assert sizes.parse("length", "32") == "32"
    for text, nearest in {"45": "32", "46": "64", "1": "16", "999": "64"}.items():
        with pytest.raises(EncodingError, match=f"must be 16, 32 or 64, got {text}") as refused:
            sizes.parse("length", text)
        assert refused.value.nearest == nearest
    for text in ("0", "x", "-1", "9" * 10):
        with pytest.raises(EncodingError, match="must be 16, 32 or 64") as refused:
            sizes.parse("length", text)
        assert refused.value.nearest is None
