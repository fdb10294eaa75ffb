"""Lessons as plain data: reads ``lessons/*.toml`` and says what is wrong with a file.

What a file may hold is written down in ``lessons/README.md``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pages._ui.site import SHOWN

FOLDER = Path(__file__).parents[3] / "lessons"
_LESSON = {"title": str, "order": int, "about": str, "know": str, "step": list}
_STEP = {"page": str, "say": str, "point": str, "set": dict, "ask": dict, "refused": bool}
_ASK = {"question": str, "options": list, "unit": str, "answer": dict, "because": str}
_SETTING = str | int | float | bool
# As an error says it.
_KINDS = {
    str: "a str", int: "an int", bool: "a bool", list: "a list", dict: "a dict",
    int | float: "a number",
}  # fmt: skip


class LessonError(ValueError):
    """A lesson's file, the step (from 1 on) and what is wrong there, in one sentence."""


@dataclass(frozen=True)
class Option:
    """One answer to choose; it is right for a computed value up to ``up_to``, where others end."""

    text: str
    up_to: float


@dataclass(frozen=True)
class Ask:
    """A question: choose an option, or, where there are none, write a number in this unit.

    ``answer`` names what is computed when the answer is shown (see answers.py), with its arguments;
    ``because`` says then why it is so.
    """

    question: str
    answer: Mapping[str, Any]
    options: tuple[Option, ...] = ()
    unit: str = ""
    because: str = ""

    def right(self, value: float) -> Option:
        """The option that holds for a computed value."""
        return next(option for option in self.options if value <= option.up_to)


@dataclass(frozen=True)
class Step:
    """One sentence about one setting of one page, and the one thing on it to look at.

    ``params`` are the page's settings as its URL holds them; ``refused`` says that the page answers
    them with an error, and that this is the point.
    """

    page: str
    say: str
    point: str
    params: Mapping[str, str] = field(default_factory=dict)
    ask: Ask | None = None
    refused: bool = False


@dataclass(frozen=True)
class Lesson:
    """A short path of steps; ``slug`` is the file's name, ``order`` its place in the list.

    ``know`` is what one knows at its end.
    """

    slug: str
    title: str
    order: int
    about: str
    know: str
    steps: tuple[Step, ...]


@lru_cache
def lessons(folder: Path = FOLDER) -> Mapping[str, Lesson]:
    """All lessons of a folder by slug, in their order. Raises `LessonError` for a bad file."""
    read = [read_lesson(path.stem, path.read_text("utf-8")) for path in folder.glob("*.toml")]
    in_order = sorted(read, key=lambda lesson: (lesson.order, lesson.slug))
    return {lesson.slug: lesson for lesson in in_order}


def read_lesson(slug: str, text: str) -> Lesson:
    """A lesson from the text of its file. Raises `LessonError`."""
    file = f"{slug}.toml"
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{file} is not TOML: {error}") from None
    _check(file, data, _LESSON, needed=("title", "order", "about", "know", "step"))
    steps = tuple(_step(f"{file}, step {i}", step) for i, step in enumerate(data["step"], 1))
    if not steps:
        raise LessonError(f"{file} has no step; write at least one [[step]]")
    return Lesson(slug, data["title"], data["order"], data["about"], data["know"], steps)


def _step(part: str, data: Any) -> Step:
    _check(part, data, _STEP, needed=("page", "say", "point"))
    if data["page"] not in SHOWN:
        raise LessonError(f"{part}: page must be one of {', '.join(SHOWN)}, got {data['page']!r}")
    for name, value in data.get("set", {}).items():
        if not isinstance(value, _SETTING):
            raise LessonError(f"{part}: {name} must be a text, a number, true or false")
    return Step(
        page=data["page"],
        say=data["say"],
        point=data["point"],
        params={name: _as_in_a_link(value) for name, value in data.get("set", {}).items()},
        ask=_ask(f"{part}, ask", data["ask"]) if "ask" in data else None,
        refused=data.get("refused", False),
    )


def _ask(part: str, data: Any) -> Ask:
    _check(part, data, _ASK, needed=("question", "answer"))
    if not isinstance(data["answer"].get("is"), str):
        raise LessonError(f'{part}: answer must name a quantity, as in {{ is = "norm" }}')
    options = tuple(_option(part, option) for option in data.get("options", ()))
    limits = [option.up_to for option in options]
    if options and (limits != sorted(set(limits)) or limits[-1] != float("inf")):
        raise LessonError(f"{part}: options must rise, each with up_to but the last one")
    unit, because = data.get("unit", ""), data.get("because", "")
    return Ask(data["question"], data["answer"], options, unit, because)


def _option(part: str, data: Any) -> Option:
    _check(f"{part}, option", data, {"text": str, "up_to": int | float}, needed=("text",))
    return Option(data["text"], float(data.get("up_to", "inf")))


def _check(part: str, data: Any, allowed: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    """Every needed key, no unknown one, all of the right type."""
    if not isinstance(data, dict):
        raise LessonError(f"{part} must be a table of names and values, got {data!r}")
    for name in needed:
        if name not in data:
            raise LessonError(f"{part} needs {name}")
    for name, value in data.items():
        if name not in allowed:
            raise LessonError(f"{part} knows no {name!r}; it may have {', '.join(allowed)}")
        kind = allowed[name]
        # To Python True is an int as well, which it isn't to a teacher.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise LessonError(f"{part}: {name} must be {_KINDS[kind]}, got {value!r}")


def _as_in_a_link(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
