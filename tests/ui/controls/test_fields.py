"""Settings as data: how they are read from a link, without drawing a page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages._ui.attention import settings as attention
from pages._ui.combine import settings as combine
from pages._ui.controls import Text
from pages._ui.controls.fields import Fields, read_fields
from posembed_core import EncodingError

ALL = (attention.FIELDS, attention.OF_VIEWS, combine.FIELDS)


@pytest.mark.parametrize("fields", ALL)
def test_a_link_that_says_nothing_gives_the_defaults(fields: Fields) -> None:
    assert read_fields(fields, {}) == {name: default for name, (_, default) in fields.items()}
    assert read_fields(fields, {"of-another-page": "1"}) == read_fields(fields, {})


@pytest.mark.parametrize("fields", ALL)
def test_every_default_survives_a_link(fields: Fields) -> None:
    link = {
        name: parameter.format(default) for name, (parameter, default) in fields.items()
        # No encoding is called "": it stands for the last one shown.
        if name != "of"
    }  # fmt: skip
    assert read_fields(fields, link) == read_fields(fields, {})


def test_a_link_is_read_and_refused_as_the_page_does() -> None:
    given = {"scale": "0.5", "shift": "33", "cell": "1_0_2"}
    values = read_fields(attention.OF_VIEWS, given)
    assert (values["scale"], values["shift"], values["cell"]) == (0.5, 33, (1, 0, 2))
    with pytest.raises(EncodingError, match="scale must be between 0 and 5, got -1"):
        read_fields(attention.OF_VIEWS, {"scale": "-1"})


@given(
    st.lists(st.from_regex(r"[a-z]{1,7}\s{1,3}", fullmatch=True), min_size=1), st.integers(1, 40)
)
def test_a_text_is_cut_between_words_and_says_how_many_it_leaves_out(
    words: list[str], most: int
) -> None:
    text = "".join(words)
    read, left_out = Text("Sentence", most=most).cut(text)
    assert len(read) <= most
    assert text.startswith(read)
    kept = read.split()
    if kept == text.split():
        assert left_out == ""
    elif len(words[0].strip()) > most:
        assert "is cut" in left_out
    else:
        assert kept == text.split()[: len(kept)]
        numbers = [int(number) for number in re.findall(r"\d+", left_out.replace("one", "1"))]
        assert numbers == [most, len(kept), len(words) - len(kept)]
        # Not one word less than would fit.
        assert len("".join(words[: len(kept) + 1]).rstrip()) > most
