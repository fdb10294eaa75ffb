"""Choosing words from a list: several at once, several in an order that counts, or a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import streamlit as st

from pages._ui.controls.link import Link
from posembed_core import EncodingError
from posembed_core.parameters import Choice, Parameter, shown

_PLACES = ("Encoding", "Second", "Third", "Fourth")
_NOTHING = ""


@dataclass(frozen=True)
class Several(Parameter):
    """Some of a few words, in an order that counts: at least one, at most ``most``."""

    options: tuple[str, ...] = ()
    most: int = 4

    def check(self, name: str, value: Any) -> tuple[str, ...]:
        """The words as a tuple."""
        chosen = tuple(dict.fromkeys(value))
        known = tuple(word for word in chosen if word in self.options)[: self.most]
        if not chosen or known != chosen:
            unknown = next((word for word in chosen if word not in self.options), "")
            got = shown(unknown) if unknown else f"{len(chosen)}"
            raise EncodingError(
                f"{name} must name 1 to {self.most} of {', '.join(self.options)}, got {got}",
                field=name,
                nearest=known or None,
            )
        return chosen

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        """The inverse of `format`."""
        return self.check(name, [part for part in text.split("_") if part])

    def format(self, value: Any) -> str:
        """The words joined by underscores."""
        return "_".join(value)


@dataclass(frozen=True)
class Sizes(Choice):
    """One of a few whole numbers; for another the nearest in ratio is offered."""

    def check(self, name: str, value: Any) -> str:
        """The number as text."""
        if value in self.options:
            return str(value)
        text = str(value)
        size = int(text) if text.isdecimal() and len(text) < 10 else 0
        *others, last = self.options
        raise EncodingError(
            f"{name} must be {', '.join(others)} or {last}, got {size or shown(value)}",
            field=name,
            nearest=min(self.options, key=lambda option: abs(log(int(option) / size)))
            if size
            else None,
        )


def choose_several(
    link: Link,
    name: str,
    parameter: Several,
    default: tuple[str, ...],
    titles: Mapping[str, str],
    groups: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:
    """Words to press, under the headings of ``groups``; the default where none is pressed."""
    asked = link.read(name, parameter, default)
    pressed: list[str] = []
    for number, (heading, options) in enumerate(groups.items()):
        key = f"{link.page}.{name}.{number}"
        if link.changed or key not in st.session_state:
            st.session_state[key] = [word for word in options if word in asked]
        of_group = st.session_state[key]
        if not link.hides(name):
            of_group = st.pills(
                heading,
                options,
                selection_mode="multi",
                format_func=titles.__getitem__,
                key=key,
                disabled=link.locks(name),
            )
        pressed += of_group
    chosen = tuple(pressed) or default
    link.keep(name, parameter, chosen, default)
    return chosen


def choose_in_order(
    link: Link,
    name: str,
    parameter: Several,
    default: tuple[str, ...],
    titles: Mapping[str, str],
) -> tuple[str, ...]:
    """A menu for each place, the first always filled; a repeated word counts once."""
    asked: tuple[str, ...] = link.read(name, parameter, default)
    chosen = []
    for place, label in zip(range(parameter.most), _PLACES, strict=True):
        key = f"{link.page}.{name}.{place}"
        options = parameter.options if place == 0 else (_NOTHING, *parameter.options)
        if link.changed or key not in st.session_state:
            st.session_state[key] = asked[place] if place < len(asked) else _NOTHING
        if st.session_state[key] not in options:  # without a model its table leaves the menu
            st.session_state[key] = options[0]
        word = st.session_state[key]
        if not link.hides(name):
            word = st.selectbox(
                label,
                options,
                format_func=lambda slug: titles.get(slug, "–"),
                key=key,
                disabled=link.locks(name),
            )
        chosen.append(word)
    kept = tuple(dict.fromkeys(word for word in chosen if word != _NOTHING))
    link.keep(name, parameter, kept, default)
    return kept


def choose_view(link: Link, views: Mapping[str, str]) -> str:
    """The views as buttons in a row; the first one is the default."""
    first = next(iter(views))
    parameter = Choice("View", options=tuple(views))
    key = f"{link.page}.view"
    asked: str = link.read("view", parameter, first)
    if link.changed or key not in st.session_state:
        st.session_state[key] = asked
    chosen: str | None = st.session_state[key]
    if not link.hides("view"):
        chosen = st.segmented_control(
            "View",
            views,
            format_func=views.__getitem__,
            key=key,
            required=True,
            label_visibility="collapsed",
            disabled=link.locks("view"),
        )
    link.keep("view", parameter, chosen or asked, first)
    return chosen or asked
