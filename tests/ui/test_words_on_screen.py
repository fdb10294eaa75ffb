"""Every text on every page: true minus signs, one word for one thing, and plurals that fit."""

from __future__ import annotations

import re

import pytest

import posembed_core as pc
from pages._ui import numbers, sentences
from pages._ui.attention import VIEWS as ATTENTION
from pages._ui.combine.settings import PRESETS
from pages._ui.compare.facts import VIEWS as COMPARE
from pages._ui.lessons.files import lessons
from pages._ui.long_context.settings import ARITHMETICS, MODELS, OWN
from pages._ui.site import PAGES
from pages._ui.table import VIEWS as TABLE
from pages._ui.table.words import BEYOND, DEFINITIONS, beyond_said
from tests.core.test_examples import examples, failures
from tests.shown import prose, texts
from tests.visits import arrived, opened

FILES = {page.path: page.file.removesuffix(".py") for page in PAGES}

Params = dict[str, str]


def in_combine() -> list[Params]:
    """Every encoding, family and operation; sentences; settings at their ends, and refused ones."""
    return [
        *({"encoding": slug, "cell": "1_2"} for slug in pc.encodings()),
        *({"encoding": slug, "cell": "1_2_1", "head": "2"} for slug in ("alibi", "t5", "kerple")),
        *PRESETS.values(),
        *(
            {"operation": word, "layer_norm": "true", "cell": "3_1"}
            for word in ("multiply", "concat")
        ),
        {"tokens": "sentence", "text": "-1 or `-2`", "cell": "1_0", "scale": "0"},
        {"tokens": "sentence", "encoding": "model"},
        {"tokens": "sentence", "text": ""},
        {"length": "1", "dimension": "2", "at": "0_1", "fit": "3"},
        {"length": "-5", "dimension": "x", "scale": "-0.5", "at": "-2", "of": "-1"},
        {"encoding": "rope", "dimension": "7"},
    ]


def in_table() -> list[Params]:
    """Every view, measure and way beyond the end; positions before, in and beyond the table."""
    return [
        *({"view": view} for view in TABLE),
        *({"view": "measures", "measure": measure, "source": "model"} for measure in DEFINITIONS),
        *(
            {"view": "lookup", "beyond": way, "position": position}
            for way in BEYOND
            for position in ("-3", "3", "40")
        ),
        {"steps": "-1", "seed": "-1", "view": "cube"},
    ]


def in_attention() -> list[Params]:
    """Every view with each family, a clicked cell, one token only, and settings refused."""
    given = (
        {"scale": "2", "cell": "1_2_0", "causal": "true"},
        {"encodings": "t5_rope-yarn_shaw_deberta", "cell": "0_3_1"},
        {"encodings": "learned", "text": "one", "shift": "600"},
    )
    refused = {"shift": "-5", "temperature": "-1", "text": " "}
    return [*({"view": view, **params} for view in ATTENTION for params in given), refused]


def in_compare() -> list[Params]:
    """Every view, of all encodings and of the smallest sizes."""
    sizes = ({"encodings": "_".join(pc.encodings())}, {"length": "1", "dimension": "2"})
    return [{"view": view, **params} for view in COMPARE for params in sizes]


def in_long_context() -> list[Params]:
    """Every known model and precision, the shortest lengths, and configs that are refused."""
    configs = ('{"head_dim": -4}', '{"head_dim": 64, "rope_theta": -1}', "{", '{"x": -1}')
    return [
        *({"model": model} for model in MODELS),
        *({"precision": precision, "position": "90000"} for precision in ARITHMETICS),
        {"trained": "1", "wanted": "1", "position": "-1"},
        *({"model": OWN, "config": config} for config in configs),
    ]


def in_lessons() -> list[tuple[str, Params]]:
    """Every step of every lesson."""
    return [
        (step.page, {**step.params, "lesson": f"{lesson.slug}.{number}"})
        for lesson in lessons().values()
        for number, step in enumerate(lesson.steps, start=1)
    ]


LINKS = [
    *(("combine", params) for params in in_combine()),
    *(("table", params) for params in in_table()),
    *(("attention", params) for params in in_attention()),
    *(("compare", params) for params in in_compare()),
    *(("long-context", params) for params in in_long_context()),
    ("lesson", {}),
    *in_lessons(),
]
NAMES = [f"{page}-{index}" for index, (page, _) in enumerate(LINKS)]
# A hyphen where a number or its exponent begins, unless it joins words (gpt-2), or between terms.
HYPHEN = re.compile(r"(?<![\w=)\]-])-\.?\d|\d[eE]-\d| - ")
# What another word on screen is for (CONTRIBUTING.md), and what is not English.
FOREIGN = re.compile(r"(?i)\bchannels?\b|\b(?:is|are) no (?!longer)[a-z]+ of\b|\bsuch a one\b")
ONE = re.compile(
    r"(?<![\d.,:×+·/−-])(?<![×+·=−] )\b1 (?!of\b|and\b|to\b|at\b|is\b|has\b|less\b)[a-z]+s\b"
)


@pytest.mark.parametrize(("page", "params"), LINKS, ids=NAMES)
def test_what_is_shown_is_written_well(page: str, params: dict[str, str]) -> None:
    read = [prose(text) for text in texts(arrived(FILES[page], params))]
    assert read
    for words in (HYPHEN, FOREIGN, ONE):
        assert [text for text in read if words.search(text)] == []


OFFERED = [
    ("combine", {"scale": "0.5", "cell": "1_2"}),
    *(("table", {"view": view, "position": "-3", "beyond": "longer"}) for view in TABLE),
    *(("attention", {"view": view}) for view in ATTENTION),
    *(("compare", {"view": view}) for view in COMPARE),
    ("long-context", {}),
]


@pytest.mark.parametrize("button", ["code", "take"])
@pytest.mark.parametrize(("page", "params"), OFFERED, ids=str)
def test_what_is_offered_is_written_well(page: str, params: Params, button: str) -> None:
    read = [prose(text) for text in texts(opened(FILES[page], f"{page}.{button}", **params))]
    for words in (HYPHEN, FOREIGN, ONE):
        assert [text for text in read if words.search(text)] == []


@pytest.mark.parametrize(
    "text", ["h = -0.5", "[-1, 2]", "got -5", "1.2e-07", "±-.5", "(-3)", "-inf 2 of -1", "j - i"]
)
def test_a_hyphen_for_a_minus_sign_is_noticed_and_mended(text: str) -> None:
    assert HYPHEN.search(text)
    assert "-" not in numbers.with_minus_signs(text)


@pytest.mark.parametrize(
    "text", ["gpt-2", "all-MiniLM-L6-v2", "length=-5", "2020-12-01", "q-4", "in-place"]
)
def test_other_hyphens_stay(text: str) -> None:
    assert not HYPHEN.search(text)
    assert numbers.with_minus_signs(text) == text


@pytest.mark.parametrize("text", ["1 positions", "a table of 1 rows", "with 1 other trainings"])
def test_a_plural_of_one_is_noticed(text: str) -> None:
    assert ONE.search(text) or "other" in text


def test_one_row_is_not_several() -> None:
    assert beyond_said("longer", 16, 17).startswith(
        "Row 16 was added at random: nothing has trained it."
    )
    assert beyond_said("longer", 16, 18).startswith(
        "Rows 16 to 17 were added at random: nothing has"
    )
    assert beyond_said("formula", 16, 17).startswith("Row 16 comes from the formula")
    assert beyond_said("interpolated", 1, 2).startswith("1 row stretched to 2")


@pytest.mark.parametrize("module", [numbers, sentences])
def test_examples_give_what_they_say(module: object) -> None:
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", "") == module.__name__:
            assert [failures(test) for test in examples(name, thing)] == [""]
