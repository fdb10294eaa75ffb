"""A parameter becomes a widget: any encoding's fields, and any page's own settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._ui import live
from pages._ui.controls.link import Link
from pages._ui.escaped import in_markdown
from pages._ui.numbers import with_minus_signs
from pages._ui.sentences import sentence
from posembed_core import EncodingError, encodings
from posembed_core.base import Encoding
from posembed_core.parameters import Choice, Flag, Integer, Number, Parameter, Reals, int_or_none


@dataclass(frozen=True)
class Text(Parameter):
    """A line of text of at most ``most`` characters."""

    most: int = 2000

    def check(self, name: str, value: Any) -> str:
        """The text itself."""
        if not isinstance(value, str) or len(value) > self.most:
            raise EncodingError(f"{name} must be a text of at most {self.most} characters")
        return value

    def cut(self, text: str) -> tuple[str, str]:
        """As many whole words as are allowed, and a sentence about what is left out, if it is."""
        if len(text) <= self.most:
            return text, ""
        head = text[: self.most]
        if not text[self.most].isspace():
            head = re.sub(r"(?<!\S)\S+$", "", head)
        count, kept = len(text.split()), len(head.split())
        if kept == 0:
            return text.strip()[: self.most], f"A word of more than {self.most} characters is cut."
        if kept == count:
            return head, ""
        left = count - kept
        return head, (
            f"The text is longer than {self.most} characters: its first {kept} words are read, "
            f"the last {f'{left} words are' if left > 1 else 'one is'} left out."
        )


@dataclass(frozen=True)
class Indices(Parameter):
    """A few whole numbers from 0 on, written with spaces (in a URL with underscores)."""

    most: int = 8

    def check(self, name: str, value: Any) -> tuple[int, ...]:
        """The numbers as a tuple."""
        whole = tuple(int_or_none(item) for item in value)
        if len(whole) > self.most or any(item is None or not 0 <= item < 2**31 for item in whole):
            raise EncodingError(f"{name} must be at most {self.most} whole numbers from 0 on")
        return tuple(item for item in whole if item is not None)

    def parse(self, name: str, text: str) -> tuple[int, ...]:
        """The inverse of `format`; commas and spaces part the numbers as well."""
        parts = text.replace("_", " ").replace(",", " ").split()
        if not all(part.isdecimal() and len(part) < 11 for part in parts):
            raise EncodingError(f"{name} must be at most {self.most} whole numbers from 0 on")
        return self.check(name, [int(part) for part in parts])

    def format(self, value: Any) -> str:
        """The numbers joined by underscores."""
        return "_".join(map(str, value))


def setting(
    link: Link,
    name: str,
    parameter: Parameter,
    default: Any,
    *,
    on_change: Callable[[], None] | None = None,
    **options: Any,
) -> Any:
    """Show a parameter as the widget that fits it, at its value in the URL; return what is set.

    The link may hide the widget or lock it: then its value is the one in the URL.
    ``options`` go to the widget (``format_func``, ``label_visibility``, ``placeholder``, …).
    """
    key = f"{link.page}.{name}"
    value = link.read(name, parameter, default)
    if link.changed or key not in st.session_state:
        st.session_state[key] = _to_widget(parameter, value)
    common = {
        "key": key,
        "help": parameter.help or None,
        "on_change": on_change,
        "disabled": link.locks(name),
        **options,
    }
    if not link.hides(name):
        value = _draw(name, parameter, default, common)
    elif not _is_typed(parameter):
        value = st.session_state[key]
    link.keep(name, parameter, value, default)
    return value


def _to_widget(parameter: Parameter, value: Any) -> Any:
    return parameter.format(value).replace("_", " ") if _is_typed(parameter) else value


def _is_typed(parameter: Parameter) -> bool:
    return isinstance(parameter, Indices | Reals)


def _draw(name: str, parameter: Parameter, default: Any, common: dict[str, Any]) -> Any:
    label = parameter.label
    if isinstance(parameter, Choice):
        return st.selectbox(label, parameter.options, **common)
    if isinstance(parameter, Flag):
        return st.toggle(label, **common)
    if isinstance(parameter, Number):
        return _draw_number(parameter, common)
    text = st.text_input(label, **common)
    if isinstance(parameter, Text):
        read, left_out = parameter.cut(text)
        if left_out:
            st.info(left_out)
        return read
    try:
        return parameter.parse(name, text.replace(",", " ").strip().replace(" ", "_"))
    except EncodingError as error:
        instead = with_minus_signs(parameter.format(default).replace("_", " "))
        st.error(f"{sentence(error)} Shown instead: {in_markdown(instead)}.")
        return default


def _draw_number(parameter: Number, common: dict[str, Any]) -> Any:
    whole = isinstance(parameter, Integer)
    kind, pattern = (int, "%d") if whole else (float, "%.6g")
    key = common["key"]
    if st.session_state[key] is not None:
        st.session_state[key] = kind(st.session_state[key])
    return st.number_input(
        parameter.label,
        min_value=kind(parameter.low),
        max_value=kind(parameter.high),
        step=1 if whole else None,
        format=pattern,
        placeholder="default" if parameter.optional else None,
        **common,
    )


def encoding_choice(extra: Mapping[str, str] | None = None) -> tuple[Choice, Mapping[str, str]]:
    """The menu of encodings as a parameter, and the title of each; ``extra`` come first."""
    titles = dict(extra or {}) | {slug: cls.title for slug, cls in encodings().items()}
    return Choice("Encoding", options=tuple(titles)), titles


def encoding_fields(link: Link, cls: type[Encoding]) -> dict[str, Any]:
    """Widgets for an encoding's own fields: all but the sizes that the page's sliders give."""
    defaults = {name: field.default for name, field in cls.__dataclass_fields__.items()}
    return {
        name: setting(link, name, parameter, defaults[name])
        for name, parameter in cls.parameters().items()
        if parameter.role == "option"
    }


def sizes(cls: type[Encoding], length: int, dimension: int) -> dict[str, int]:
    """The encoding's size fields, filled from the page's sliders."""
    by_role = {"length": length, "dimension": dimension}
    return {
        name: by_role[parameter.role]
        for name, parameter in cls.parameters().items()
        if parameter.role != "option"
    }


def slider(
    link: Link,
    name: str,
    parameter: Number,
    default: Any,
    *,
    step: Any,
    fixed: Any = None,
    fixed_by: str = "",
    **options: Any,
) -> Any:
    """A number of the page as a live slider; call it in the fragment that draws the pictures.

    ``fixed`` shows that value and no other, for a size that ``fixed_by`` decides.
    """
    key = f"{link.page}.{name}"
    value = link.read(name, parameter, default) if fixed is None else fixed
    if link.changed and fixed is None:
        live.slider.set_live_slider(key, value)
    if link.hides(name):
        shown = live.slider.snap(value, parameter.low, parameter.high, step)
    else:
        shown = live.slider.live_slider(
            parameter.label if fixed is None else f"{parameter.label}, fixed by {fixed_by}",
            # A slider of its own, so that the reader's value is still there afterwards.
            key=key if fixed is None else f"{key}.fixed",
            value=value,
            low=parameter.low,
            high=parameter.high,
            step=step,
            help=parameter.help or None,
            disabled=fixed is not None or link.locks(name),
            **options,
        )
    if fixed is not None:
        return fixed
    if link.changed and shown != value:
        link.note(
            f"{link.origin(name, parameter, parameter.format(value))}, but here it goes in steps "
            f"of {step} from {parameter.format(parameter.low)}. "
            f"Shown instead: {parameter.format(shown)}."
        )
    link.keep(name, parameter, shown, default)
    return shown
