"""Every lesson is checked against the pages it leads through."""

from __future__ import annotations

import math
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

import posembed_core as pc
from pages._ui.combine.settings import read_link
from pages._ui.compare import facts
from pages._ui.lessons import answers, bar
from pages._ui.lessons.files import LessonError, Step, lessons, read_lesson
from pages._ui.server import pictures
from pages._ui.server.pictures import picture
from pages._ui.server.setting import Setting
from pages._ui.site import FOLDER, PAGES
from posembed_core.tables.measures.similarity import distance_decay

LESSONS = lessons()
STEPS = [
    pytest.param(step, id=f"{lesson.slug}.{number}")
    for lesson in LESSONS.values()
    for number, step in enumerate(lesson.steps, 1)
]
ASKING = [param for param in STEPS if param.values[0].ask is not None]
QUESTIONS = ("random-matrix", "add-or-concatenate", "hard-coded-table", "frequencies",
             "square-root", "last-row", "two-ropes")  # fmt: skip
HANDBOOK = ("handbook-injection", "handbook-table", "handbook-combining")
FILES = {page.path: page.file for page in PAGES}

# The landing page's defaults, and every one of its settings at another value.
LINKS = (
    {},
    {
        "encoding": "learned", "length": "33", "dimension": "12", "scale": "0.37", "seed": "5",
        "token_seed": "7", "token_std": "1.25", "token_skip": "3", "operation": "concat",
        "layer_norm": "true", "sqrt_dim": "true", "std": "0.1", "at": "0_32",
    },
    {"encoding": "alibi", "head": "3", "alibi_bias_max": "4"},
)  # fmt: skip

GOOD = """
title = "A title"
order = 1
about = "What it is about."
know = "What one knows then."

[[step]]
page = "combine"
say = "One sentence."
point = "picture"
set = { scale = 2 }
"""


def open_page(page: str, params: dict[str, str]) -> AppTest:
    """A page at a link, after its run."""
    app = AppTest.from_file(str(FOLDER / "navigation.py"), default_timeout=60)
    if page == "combine":
        app.query_params = dict(params)
        return app.run()
    # The page must be known before it can be gone to.
    app.query_params = {"lesson": "."}
    app.run()
    app.switch_page(FILES[page])
    app.query_params = dict(params)
    return app.run()


def settings(app: AppTest) -> dict[str, str]:
    """The URL after the run."""
    return {
        name: value[0] if isinstance(value, list) else value
        for name, value in app.query_params.items()
    }


def faults(step: Step) -> list[str]:
    """What a page objects to in a step's settings."""
    app = open_page(step.page, dict(step.params))
    complaints = [element.value for element in (*app.warning, *app.exception)]
    refused = [element.value for element in app.error]
    if step.refused and not refused:
        complaints.append("the step says that it is refused, but the page shows no error")
    if not step.refused:
        complaints += refused
    now = settings(app)
    if not complaints and now != step.params:
        complaints.append(f"the page turns {dict(step.params)} into {now}")
    return complaints


@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_a_setting_that_its_page_knows(step: Step) -> None:
    assert faults(step) == []


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("scal = 2", "scal"),
        ("scale = 9", "scale=9"),
        ('encoding = "rop"', "encoding=rop"),
        ("length = 128", "turns"),  # the default needs no place in a lesson
    ],
)
def test_a_step_with_a_wrong_setting_is_noticed(setting: str, complaint: str) -> None:
    lesson = read_lesson("bad", GOOD.replace("scale = 2", setting))
    assert any(complaint in fault for fault in faults(lesson.steps[0]))


def test_a_step_that_claims_a_refusal_is_noticed() -> None:
    lesson = read_lesson("bad", GOOD + "refused = true\n")
    assert faults(lesson.steps[0])


@pytest.mark.parametrize("step", ASKING)
def test_every_question_has_a_computed_answer(step: Step) -> None:
    value = answers.compute(step, step.ask.answer)
    assert math.isfinite(value)
    if step.ask.options:
        assert step.ask.right(value) in step.ask.options


@pytest.mark.parametrize("step", ASKING)
def test_each_answer_says_why(step: Step) -> None:
    assert step.ask.because.endswith(".")


def test_large_numbers_are_written_out() -> None:
    numbers = {47117.2: "47,120", 7499.0: "7,499", -4711.4: "−4,711", 12.0: "12", 0.5: "0.5"}
    assert {value: bar._digits(value) for value in numbers} == numbers


def test_the_questions_and_the_handbook_are_there() -> None:
    assert tuple(LESSONS)[:3] == HANDBOOK
    assert set(QUESTIONS) <= set(LESSONS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "not TOML"),
        (GOOD.replace('title = "A title"', ""), "needs title"),
        (GOOD.replace("order = 1", 'order = "1"'), "order must be an int"),
        (GOOD.replace("order = 1", "order = true"), "order must be an int"),
        (GOOD.replace('page = "combine"', 'page = "combin"'), "step 1: page must be one of"),
        (GOOD.replace("say =", "sya ="), "step 1 needs say"),
        (GOOD + 'colour = "red"', "step 1 knows no 'colour'"),
        (GOOD.replace("{ scale = 2 }", "{ scale = [2] }"), "step 1: scale must be a text"),
        (GOOD + '[step.ask]\nquestion = "?"\nanswer = { of = 1 }', "answer must name"),
        (
            GOOD + '[step.ask]\nquestion = "?"\nanswer = { is = "norm" }\n'
            'options = [{ text = "a", up_to = 1 }]',
            "options must rise",
        ),
        (GOOD.partition("[[step]]")[0], "needs step"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_step(text: str, message: str) -> None:
    with pytest.raises(LessonError, match=r"bad\.toml") as caught:
        read_lesson("bad", text)
    assert message in str(caught.value)


def test_a_question_about_an_unknown_quantity_is_refused() -> None:
    step = read_lesson("good", GOOD).steps[0]
    with pytest.raises(LessonError, match="quantities"):
        answers.compute(step, {"is": "beauty"})
    with pytest.raises(LessonError, match="norm"):
        answers.compute(step, {"is": "norm", "off": "token"})


def test_a_new_file_is_a_new_lesson(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD, encoding="utf-8")
    by_slug = lessons(tmp_path)
    assert [(lesson.slug, lesson.steps[0].params) for lesson in by_slug.values()] == [
        ("mine", {"scale": "2"})
    ]


def test_a_link_is_read_as_the_landing_page_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: list[Setting] = []

    def noting(setting: Setting) -> object:
        settings.append(setting)
        return picture(setting)

    monkeypatch.setattr(pictures, "picture", noting)
    for params in LINKS:
        settings.clear()
        app = open_page("combine", params)
        assert not app.exception
        assert set(settings) == {read_link(params)[0]}
        scale = app.session_state["combine.shown"]["scale"]
        assert scale == read_link(params)[1]


def test_lessons_have_a_place_in_the_list_each() -> None:
    orders = [lesson.order for lesson in LESSONS.values()]
    assert orders == sorted(set(orders))


def teaching_links() -> list[str]:
    """The links of docs/teaching.md into the app."""
    text = (FOLDER.parent / "docs" / "teaching.md").read_text("utf-8")
    return re.findall(r"\(http://localhost:8501(/[^)]*)\)", text)


@pytest.mark.parametrize("link", teaching_links())
def test_the_teachers_links_work_as_written(link: str) -> None:
    place = urlsplit(link)
    params = dict(parse_qsl(place.query))
    page = next(page for page in PAGES if page.path == (place.path.strip("/") or "combine"))
    if page.path == "lesson":
        assert params["lesson"] in LESSONS
        return
    app = open_page(page.path, params)
    assert [element.value for element in (*app.warning, *app.error, *app.exception)] == []
    assert settings(app) == params


def test_the_exercise_in_which_words_drown_begins_without_position() -> None:
    (link,) = [link for link in teaching_links() if "lock=length" in link]
    assert dict(parse_qsl(urlsplit(link).query))["scale"] == "0"


def turns(params: dict[str, str], pair: int) -> float:
    return answers.positions_a_turn(params, pair)


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
@pytest.mark.parametrize("dimension", [8, 64])
def test_a_pair_comes_back_after_its_wavelength_in_both_layouts(
    layout: str, dimension: int
) -> None:
    params = {"layout": layout, "dimension": f"{dimension}", "base": "100"}
    for pair in (0, 1, dimension // 2 - 1):
        expected = 2 * math.pi * 100 ** (2 * pair / dimension)
        assert turns(params, pair) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("encoding", ["none", "learned", "rope", "alibi"])
def test_what_has_no_waves_has_no_wavelength(encoding: str) -> None:
    with pytest.raises(LessonError, match="sines and cosines"):
        turns({"encoding": encoding}, 0)
    with pytest.raises(LessonError, match="a pair from 0 to 31, got 32"):
        turns({}, 32)


def test_the_numbers_that_lessons_say_are_those_computed() -> None:
    slowest = turns({}, 31) / turns({}, 0)
    assert f"{slowest:,.0f} times" in texts("frequencies")
    spec = pc.TrainingSpec(max_seq_len=32, embed_dim=16, steps=400)
    *_, last = pc.train_table(spec)
    decay = distance_decay(last.weight).values
    for apart in (1, 8, 16):
        assert f"{float(decay[apart]):.2f}".replace("-", "−") in texts("random-matrix")
    assert decay[30] > 0
    with_root = answers.norm_ratio({"token_std": "0.125", "sqrt_dim": "true"}, 5)
    scaled = answers.norm_ratio({"token_std": "0.125", "scale": "0.13"}, 5)
    assert scaled == pytest.approx(with_root, rel=0.05)


def texts(lesson: str) -> str:
    return (Path(__file__).parents[1] / "lessons" / f"{lesson}.toml").read_text(encoding="utf-8")


def test_a_picture_that_a_step_links_to_keeps_the_step_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = GOOD.replace('page = "combine"', 'page = "compare"').replace("scale = 2", "head = 1")
    lesson = read_lesson("compared", compared)
    monkeypatch.setattr(bar, "lessons", lambda: {"compared": lesson})
    begun = {"head": "1", "lesson": "compared.1"}
    assert settings(open_page("compare", begun)) == begun
    figure, _ = facts.figure_of(("alibi",), "picture", 32, 16, 1, (("lesson", "compared.1"),))
    (way,) = (note.text for note in figure.layout.annotations if "href" in note.text)
    params = dict(parse_qsl(way.partition('href="./?')[2].partition('"')[0]))
    app = open_page("combine", params)
    assert settings(app) == params
    assert params["lesson"] == "compared.1"
    assert app.button(key="step.again")
    # Without settings there was no link: the step has its own page.
    assert settings(open_page("combine", {"lesson": "compared.1"})) == begun
