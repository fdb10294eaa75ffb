"""The shell around every page: a lesson's step above it, the projector's view, the link as a code.

All of it stands in the URL, next to the page's own settings: ``lesson=<slug>.<step>``,
``present=true``, and ``hide=`` and ``lock=`` with names of controls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages._ui import live
from pages._ui.controls.link import arrive, follow_next, settings_in_url
from pages._ui.escaped import in_lesson
from pages._ui.lessons.answers import compute
from pages._ui.lessons.files import Ask, Lesson, LessonError, Step, lessons
from pages._ui.numbers import written
from pages._ui.qr import show_code
from pages._ui.sentences import sentence
from pages._ui.site import PAGES, settings_button

_PLACES = {
    "picture": ("the picture", ".live-plot"),
    "numbers": ("the numbers", "[data-testid=stMain] table"),
    "arithmetic": ("the arithmetic", ".live-plot-notes .arithmetic"),
}
_KEYS = {
    "b": "step.back",
    "a": "step.again",
    "n": "step.next",
    # What a clicker sends.
    "PageUp": "step.back",
    "PageDown": "step.next",
    "p": "frame.present",
    "q": "frame.code",
    "m": "frame.menu",
}
# Streamlit wraps the bar in an element of the same height, which is what can stick to the page.
_STICKY = f":has(> {live.page.key_selector('lesson')})"
_ENDED = "lesson.ended"
_FOLDER = Path(__file__).parent
_STYLE = (_FOLDER / "bar.css").read_text("utf-8")
_PRESENTING = (_FOLDER / "present.css").read_text("utf-8")


@dataclass(frozen=True)
class Place:
    """A step of a lesson, counted from 1."""

    lesson: Lesson
    number: int

    @property
    def step(self) -> Step:
        """What is shown there."""
        return self.lesson.steps[self.number - 1]

    @property
    def key(self) -> str:
        """How the link names it."""
        return f"{self.lesson.slug}.{self.number}"


@dataclass(frozen=True)
class Shell:
    """What the link says of the shell, and the pages that it can hold."""

    pages: Mapping[str, StreamlitPage]
    presents: bool

    def around(self, shown: StreamlitPage) -> None:
        """Draw the shell and the page in it."""
        path = next(path for path, page in self.pages.items() if page.title == shown.title)
        arrive(path)
        place = _place() if path != "lesson" else None
        if place is not None and place.step.page != path and not _was_led_on(place):
            # A step's settings are its own page's: elsewhere they'd be other things.
            begin(place.key)
        if place is not None:
            bar(place, self.presents)
        shown.run()
        self.footer()
        if place is None:
            # Even what can't be seen leaves a gap: here it is at the end of the page.
            ended = ended_lesson() if path == "lesson" else None
            live.page.stage(
                present=self.presents,
                keys=_KEYS,
                style=_style(self.presents) + (_marks() if path == "lesson" else ""),
                say=f"Now you know: {ended.know}" if ended else "",
                done=ended.slug if ended else "",
            )

    def footer(self) -> None:
        """The projector's view and the link as a code, for keys as well."""
        with st.container(horizontal=True, horizontal_alignment="right", key="footer"):
            st.button(
                "End presentation" if self.presents else "Present",
                shortcut="p",
                on_click=_toggle_present,
                key="frame.present",
                type="tertiary",
            )
            if st.button("Link as QR code", shortcut="q", key="frame.code", type="tertiary"):
                show_code()
            # A projector shows the menu on demand only.
            if self.presents and st.button("Menu", shortcut="m", key="frame.menu", type="tertiary"):
                _show_menu(self.pages.values())


@st.dialog("Menu", width="small")
def _show_menu(pages: Iterable[StreamlitPage]) -> None:
    for page in pages:
        st.page_link(page, query_params=_presenting())


def open_shell(pages: Mapping[str, StreamlitPage]) -> Shell:
    """The shell that the link asks for."""
    return Shell(pages, st.query_params.get("present") == "true")


def ended_lesson() -> Lesson | None:
    """The lesson that this visitor went through last, until another one is begun."""
    return lessons().get(st.session_state.get(_ENDED, ""))


def begin(key: str) -> None:
    """Go to a step, ``<slug>.<number>``: its page, its settings, nothing else."""
    place = _find(key)
    st.session_state.pop(_ENDED, None)
    params = {**place.step.params, "lesson": place.key, **_presenting()}
    file = next(page.file for page in PAGES if page.path == place.step.page)
    follow_next()
    st.switch_page(file, query_params=params)


def bar(place: Place, presents: bool) -> None:
    """The step's sentence and question, and the ways on and back."""
    lesson, step = place.lesson, place.step
    last = place.number == len(lesson.steps)
    name, selector = _PLACES.get(
        step.point,
        (step.point.replace("_", " "), live.page.key_selector(f"{step.page}.{step.point}")),
    )
    with st.container(border=True, key="lesson", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f":small[{in_lesson(lesson.title)} · {place.number} of {len(lesson.steps)}]",
                width="stretch",
            )
            live.page.stage(
                present=presents,
                keys=_KEYS,
                style=_style(presents),
                point=selector,
                below=_STICKY,
                look=f"Look at: {name}",
                say=f"Step {place.number} of {len(lesson.steps)}: {step.say}",
            )
            st.html(settings_button("All settings"), width="content")
            back = st.button("Back", shortcut="b", key="step.back", disabled=place.number == 1)
            again = st.button(
                "Start again",
                shortcut="a",
                key="step.again",
                help="This step with its own settings",
            )
            onward = st.button(
                "All lessons" if last else "Next", shortcut="n", key="step.next", type="primary"
            )
        st.markdown(in_lesson(step.say))
        if step.ask is not None:
            ask(place, step.ask)
    if onward and last:
        st.session_state[_ENDED] = lesson.slug
        st.switch_page("lesson.py", query_params=_presenting())
    if back or again or onward:
        begin(f"{lesson.slug}.{place.number + onward - back}")


def ask(place: Place, question: Ask) -> None:
    """Let the student answer first; then compute, and put both next to each other."""
    reply = choice(place, question) if question.options else guess(place, question)
    if reply:
        st.markdown(reply)


def choice(place: Place, question: Ask) -> str:
    """One of the options, then the computed value and the option that it makes right."""
    texts = [in_lesson(option.text) for option in question.options]
    asked = in_lesson(question.question)
    answer = st.radio(asked, texts, index=None, horizontal=True, key=_answer_key(place))
    if answer is None:
        return ""
    value = compute(place.step, question.answer)
    right = in_lesson(question.right(value).text)
    computed = f"**{_with_unit(question, value)}**, **{right}**"
    return f"You said **{answer}**. Computed just now: {computed}.{_why(question)}"


def guess(place: Place, question: Ask) -> str:
    """A number, then the computed one."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":small[{in_lesson(question.question)}]", width="content")
        guessed = st.number_input(
            in_lesson(question.question),
            value=None,
            format="%.6g",
            key=_answer_key(place),
            placeholder="your guess",
            label_visibility="collapsed",
            width=180,
        )
    if guessed is None:
        return ""
    value = compute(place.step, question.answer)
    computed = f"**{_with_unit(question, value)}**"
    reply = f"**{_with_unit(question, guessed)}**"
    return f"You said {reply}. Computed just now: {computed}.{_why(question)}"


def _why(question: Ask) -> str:
    return f" {in_lesson(question.because)}" if question.because else ""


def _presenting() -> dict[str, str]:
    """What a link to another page takes along: whether a projector shows it."""
    presents = st.query_params.get("present")
    return {"present": presents} if presents else {}


def _was_led_on(place: Place) -> bool:
    """Whether the link may be that of a picture on the step's page, which opens another page."""
    return place.step.page == "compare" and settings_in_url()


def _style(presents: bool) -> str:
    """What the page's own elements look like; what only a projector needs travels only to it."""
    return _STYLE + _PRESENTING * presents


def _marks() -> str:
    """A tick at each lesson that was gone through to its end in this browser."""
    rule = 'html[data-done~="{}"] {} button p::after {{ content: "  ✓" / "  done" }}'
    return "\n".join(rule.format(slug, live.page.key_selector(f"go-{slug}")) for slug in lessons())


def _answer_key(place: Place) -> str:
    return f"lesson.{place.key}"


def _with_unit(question: Ask, value: float) -> str:
    return f"{_digits(value)} {in_lesson(question.unit)}".strip()


def _digits(value: float) -> str:
    """Four digits, large numbers written out: 47,120 instead of 4.712e+04."""
    if 1000 <= abs(value) < 1e15:
        return written(float(f"{value:.4g}"), ",.0f")
    return written(value, ".4g")


def _place() -> Place | None:
    """The step that the link names; None, with the reason on the page, where there is none."""
    key = st.query_params.get("lesson")
    if key is None:
        return None
    try:
        return _find(key)
    except LessonError as error:
        st.warning(sentence(error))
        return None


def _find(key: str) -> Place:
    slug, _, number = key.partition(".")
    lesson = lessons().get(slug)
    if lesson is None:
        raise LessonError(f"The link names the lesson {slug[:40]!r}, which isn't here")
    if not (number.isdecimal() and 1 <= int(number[:9]) <= len(lesson.steps)):
        raise LessonError(f"The lesson {slug!r} has the steps 1 to {len(lesson.steps)}")
    return Place(lesson, int(number))


def _toggle_present() -> None:
    if st.query_params.get("present") == "true":
        del st.query_params["present"]
    else:
        st.query_params["present"] = "true"
