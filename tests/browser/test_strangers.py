"""A stranger's text, through every way in, is text on the page: no link, no image, no heading."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import Message
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from pages._ui.attention import VIEWS as OF_ATTENTION
from pages._ui.compare.facts import VIEWS as OF_COMPARISON
from pages._ui.controls.link import SHELL, Link
from pages._ui.escaped import in_code, in_lesson, in_markdown, unmarked
from pages._ui.lessons import bar
from pages._ui.lessons.files import Lesson, read_lesson
from pages._ui.site import PAGES
from pages._ui.table import VIEWS as OF_TABLES
from posembed_core.model_config import known_configs
from tests.on_screen import AT_A_LINK, at_rest, settled
from tests.visits import arrived

pytestmark = pytest.mark.browser

APPS = Path(__file__).parent / "apps"
# Notices quote forty characters of a link, so what could do harm comes in small pieces, too.
HOSTILE = (
    "\n# evil\n![](//evil.test)[evil](//evil.test)",
    "<a href=//evil.test>evil</a>http://evil.test",
    "www.evil.test evil@evil.test :streamlit:",
    "<img src=//evil.test> | [evil] <//evil.test>",
    """# evil

![i](//evil.test/i) [Log in](//evil.test "evil") `evil` **evil** evil
===
[evil]: //evil.test
> # evil
1. # evil
:red[evil](//evil.test) \\[evil](//evil.test)""",
)
VIEWS = {"attention": OF_ATTENTION, "compare": OF_COMPARISON, "table": OF_TABLES}
# What Streamlit reads Markdown in, and what may hold it besides: the names of protobuf's fields.
MARKDOWN = {"body", "label", "options", "text", "caption", "help", "placeholder"}
HARM = """() => [...document.querySelectorAll(
    '[data-testid=stMain] :is(a, img, h1, h2, h3, h4, h5, h6, blockquote, ol, hr)')]
  .filter((node) => node.matches('img, hr') || /evil/.test(node.outerHTML))
  .map((node) => node.outerHTML)"""


def texts_of(message: Message, name: str = "") -> Iterator[str]:
    """Every text in a message of Streamlit's that might be read as Markdown."""
    for field, value in message.ListFields():
        parts = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        for part in parts:
            if isinstance(part, Message):
                yield from texts_of(part, field.name)
            elif isinstance(part, str) and field.name in MARKDOWN:
                yield part


def shown(app: AppTest) -> set[str]:
    """The texts of a page in which the stranger's are."""
    blocks: list[Any] = [app._tree]
    texts: set[str] = set()
    while blocks:
        block = blocks.pop()
        if isinstance(proto := getattr(block, "proto", None), Message):
            texts |= {text for text in texts_of(proto) if "evil" in text}
        blocks += getattr(block, "children", {}).values()
    return texts


@pytest.fixture
def harmless(
    serve: Callable[..., str], new_page: Callable[..., Page], tmp_path: Path
) -> Callable[[Iterable[str]], None]:
    """harmless(texts): Streamlit shows them all as Markdown, and nothing of it leads anywhere."""

    def check(texts: Iterable[str]) -> None:
        listed = tmp_path / "texts.json"
        listed.write_text(json.dumps(sorted(set(texts))), "utf-8")
        page = new_page()
        page.goto(serve(APPS / "markdown.py", TEXTS=str(listed)))
        expect(page.get_by_text("All of them.")).to_be_visible()
        expect(page.locator("[data-testid=stMain] :is(p, label)").first).to_be_visible()
        assert page.evaluate(HARM) == []

    return check


def test_harm_is_seen_where_there_is_some(
    serve: Callable[..., str], new_page: Callable[..., Page], tmp_path: Path
) -> None:
    listed = tmp_path / "texts.json"
    listed.write_text(json.dumps(HOSTILE))
    page = new_page(tolerate="evil.test")
    page.route("**/evil.test/**", lambda route: route.abort())
    page.goto(serve(APPS / "markdown.py", TEXTS=str(listed)))
    expect(page.get_by_text("All of them.")).to_be_visible()
    harm = "".join(page.evaluate(HARM))
    assert {kind for kind in ("<a ", "<img ", "<h1") if kind in harm} == {"<a ", "<img ", "<h1"}


def test_what_is_escaped_reads_as_it_was_written(
    serve: Callable[..., str], new_page: Callable[..., Page], tmp_path: Path
) -> None:
    plain = [" ".join(text.split()) for text in (*HOSTILE, "a_b *c* $d$ &lt; 1. 2", "- e", "12:30")]
    assert [unmarked(in_markdown(text)) for text in plain] == plain
    listed = tmp_path / "texts.json"
    listed.write_text(json.dumps([in_markdown(text) for text in plain]))
    page = new_page()
    page.goto(serve(APPS / "markdown.py", TEXTS=str(listed)))
    expect(page.get_by_text("All of them.")).to_be_visible()
    read = page.locator("[data-testid=stMain] .stMarkdown").all_inner_texts()
    assert [" ".join(text.replace("\u2060", "").split()) for text in read] == plain


def names_read(page: str, params: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The settings that a page reads from such a link."""
    names: set[str] = set()
    read = Link.read

    def noted(link: Link, name: str, *rest: Any) -> Any:
        names.add(name)
        return read(link, name, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Link, "read", noted)
        arrived(page, params)
    return names


def test_every_setting_of_a_link(
    harmless: Callable[[Iterable[str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: set[str] = set()
    for site in PAGES:
        page = site.file.removesuffix(".py")
        for view in VIEWS.get(page, {"": None}):
            given = {"view": view} if view else {}
            names = names_read(page, given, monkeypatch) - given.keys()
            for hostile in HOSTILE:
                noticed = shown(
                    arrived(page, dict.fromkeys([*names, hostile[:60]], hostile) | given)
                )
                assert len(noticed) >= min(len(names), 1), (page, view)
                texts |= noticed
    for page in ("combine", "lesson"):
        for name in (*SHELL, "view", "encoding", "tokens"):
            for hostile in HOSTILE:
                texts |= shown(arrived(page, {name: hostile}))
    assert len(texts) > 100
    harmless(texts)


def configs(hostile: str) -> Iterator[dict[str, Any]]:
    """Configs whose every key, and every value, is the stranger's in turn."""
    for config in known_configs().values():
        for key, value in config.items():
            yield config | {key: hostile}
            yield config | {key: [hostile]}
            for inner in value if isinstance(value, dict) else ():
                yield config | {key: value | {inner: hostile}}
                yield config | {key: {hostile: value, inner: value[inner]}}
    config = next(iter(known_configs().values()))
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    for key in ("rope_scaling", "rope_parameters", "rope_type", "layer_types", hostile):
        yield config | {key: {"rope_type": hostile, "type": hostile, hostile: hostile}}
        yield config | {key: {hostile: rope, "full_attention": rope}}
        yield config | {key: {"rope_type": "linear", "factor": 2.0, hostile: 1, "type": hostile}}


def test_every_key_of_a_config(harmless: Callable[[Iterable[str]], None]) -> None:
    from pages._ui.long_context.reading import reading_of
    from pages._ui.long_context.words import finding_text, settings_line

    texts: set[str] = set()
    for hostile in HOSTILE:
        for text in (hostile, *map(json.dumps, configs(hostile))):
            reading = reading_of(text)
            texts |= {finding_text(finding) for finding in reading.findings}
            kinds = [group.settings for group in reading.groups if group.settings]
            texts |= {settings_line(settings, 8192) for settings in kinds}
    marked = {text for text in texts if "evil" in text}
    assert len(marked) > 100
    harmless(marked)


@pytest.mark.parametrize(
    "hostile", [HOSTILE[-1], "![](//evil.test) <img src=//evil.test> evil@e.test"]
)
def test_names_of_files_and_tensors(
    new_page: Callable[..., Page], app: str, tmp_path: Path, hostile: str
) -> None:
    name = hostile.replace("\n", " ").replace("/", "∕")  # a path's only two forbidden signs
    file = {
        "name": f"<b>evil</b> {hostile[:80]}.npz".replace("\n", " "),
        "mimeType": "application/octet-stream",
        "buffer": archive(tmp_path, {name: np.ones((20, 4), np.float32), "wpe": np.eye(8)}),
    }
    page = new_page(tolerate=AT_A_LINK)
    for view in ("measures", "lookup", "compare"):
        page.goto(f"{app}/table?view={view}")
        settled(page, states=())
        page.get_by_role("button", name="Your file").click()
        page.set_input_files("input[type=file]", file)
        expect(page.get_by_text("evil").first).to_be_visible()
        settled(page, states=())
        page.keyboard.press("Escape")
        for button in ("Take away", "Code"):
            page.get_by_role("button", name=button, exact=True).click()
            settled(page, states=())
            assert page.evaluate(HARM) == []
            page.keyboard.press("Escape")
        assert page.locator(".live-plot svg a, .live-plot svg image").count() == 0


def archive(folder: Path, arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of an .npz."""
    path = folder / "a.npz"
    np.savez(path, **arrays)
    return path.read_bytes()


@pytest.mark.parametrize("view", ["weights", "shuffle", "shift", "four"])
def test_words_of_a_sentence(new_page: Callable[..., Page], app: str, view: str) -> None:
    words = ["<a", "href=//evil.test>", "<b>evil</b>", "&lt;evil", "![](//evil.test)", "<b>"]
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/attention?view={view}&tokens=random&encodings=sinusoidal&cell=0_0_1")
    at_rest(page, 2 if view == "shuffle" else 1)
    box = page.get_by_label("Sentence")
    box.fill(" ".join(words))
    box.press("Enter")
    labels = page.locator(".live-plot .xtick text, .live-plot .xaxislayer-above text")
    expect(labels.filter(has_text="<b>").first).to_be_visible()
    expect(labels.filter(has_text="&lt;evil").first).to_be_visible()
    assert page.evaluate(HARM) == []
    assert page.locator(".live-plot svg a").count() == 0


LESSON = """
title = {0}
order = 1
about = {0}
know = {0}
[[step]]
page = "combine"
say = {0}
point = "scale"
[step.ask]
question = {0}
unit = {0}
because = {0}
answer = {{ is = "norm", of = "token", at = 1 }}
[[step]]
page = "combine"
say = {0}
point = "picture"
[step.ask]
question = {0}
options = [{{ text = {0}, up_to = 1 }}, {{ text = {0} }}]
answer = {{ is = "norm", of = "token", at = 1 }}
"""


@pytest.mark.parametrize("hostile", HOSTILE)
def test_every_field_of_a_lesson(
    harmless: Callable[[Iterable[str]], None], monkeypatch: pytest.MonkeyPatch, hostile: str
) -> None:
    lesson: Lesson = read_lesson("evil", LESSON.format(json.dumps(hostile)))
    monkeypatch.setattr(bar, "lessons", lambda: {"evil": lesson})
    texts: set[str] = set()
    for number in (1, 2):
        app = arrived("combine", {"lesson": f"evil.{number}"})
        texts |= shown(app)
        widget = app.radio[0].set_value(app.radio[0].options[0]) if number == 2 else (
            next(w for w in app.number_input if "lesson" in str(w.key)).set_value(1.0)
        )  # fmt: skip
        texts |= shown(widget.run())
    assert len(texts) > 3
    harmless(texts)


def test_a_teachers_emphasis_stays() -> None:
    sentence = "**Bold**, *so*, `h[0](1)`, :blue[blue], $e_1 < \\alpha$: yes."
    assert in_lesson(sentence).replace("\u2060", "") == sentence
    assert "\u2060" not in in_lesson("**Bold**, *so*, :blue[blue], $e_1 < \\alpha$: yes.")


def test_code_ends_only_where_we_end_it() -> None:
    assert in_code("a`b|c\n") == "`aˋb|c\\n`"
    assert in_code("a|b", in_table=True) == r"`a\|b`"
