"""The words for families of encodings: one set each, also for encodings from outside."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from string import Formatter
from typing import ClassVar

import pytest
import torch

import posembed_core as pc
from pages._ui.families import MiddlePicture, where_it_acts, words_of

FAMILIES = (pc.AdditiveEncoding, pc.RotaryEncoding, pc.BiasEncoding, pc.RelativeEncoding)
# The placeholders that a page fills in, by field.
FILLED = {
    "acts": {"door"}, "equation": {"e", "p", "join"}, "signs": {"join"}, "role": {"title"},
    "layer_input": {"e", "p"}, "score_step": {"acts", "q", "k", "part"}, "heading": {"head"},
    "about": {"head"},
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Mine(pc.AdditiveEncoding):
    """An encoding from outside, which no table names."""

    slug: ClassVar[str] = "mine"
    title: ClassVar[str] = "Mine"

    def table(self, positions: object, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.ones(len(positions), self.embed_dim, dtype=dtype)  # type: ignore[arg-type]


@pytest.mark.parametrize("slug", list(pc.encodings()))
def test_an_encoding_has_the_words_of_its_family(slug: str) -> None:
    cls = pc.encodings()[slug]
    (family,) = [family for family in FAMILIES if issubclass(cls, family)]
    assert words_of(cls) is words_of(cls()) is words_of(family)


def test_no_two_families_have_the_same_words() -> None:
    assert len({words_of(family) for family in (*FAMILIES, pc.Encoding)}) == len(FAMILIES) + 1


def test_an_encoding_from_outside_has_the_words_of_its_family() -> None:
    assert words_of(Mine()) is words_of(pc.AdditiveEncoding)
    assert where_it_acts(Mine) == "in the input, added to the tokens"


def test_where_nothing_enters_nothing_acts() -> None:
    assert where_it_acts(pc.create("none")) == "nowhere"
    assert [slug for slug, cls in pc.encodings().items() if where_it_acts(cls) == "nowhere"] == [
        "none"
    ]


@pytest.mark.parametrize("family", [*FAMILIES, pc.Encoding])
def test_texts_have_no_placeholder_that_pages_do_not_fill(family: type[pc.Encoding]) -> None:
    words = words_of(family)
    texts = [(field.name, getattr(words, field.name)) for field in dataclasses.fields(words)]
    texts += [(f.name, getattr(words.middle, f.name)) for f in dataclasses.fields(words.middle)]
    for name, text in texts:
        if isinstance(text, MiddlePicture | bool) or name == "position":
            continue
        parts = text if isinstance(text, tuple) else (text,)
        asked = {field for part in parts for _, field, _, _ in Formatter().parse(part) if field}
        assert asked <= FILLED.get(name, set()), name
