"""Two more widgets for a page's settings: several from a list, and views as buttons in a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._ui.link import Link
from posembed_core import EncodingError
from posembed_core.parameters import Choice, Parameter, shown


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
                f"{name} must be one to {self.most} of {', '.join(self.options)}, got {got}",
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


def several(
    link: Link,
    name: str,
    parameter: Several,
    default: tuple[str, ...],
    titles: Mapping[str, str],
) -> tuple[str, ...]:
    """A list to choose from; what is chosen, or the default while nothing is."""
    key = f"{link.page}.{name}"
    asked = link.read(name, parameter, default)
    if link.changed or key not in st.session_state:
        st.session_state[key] = list(asked)
    # Without a model its table leaves the menu.
    st.session_state[key] = [one for one in st.session_state[key] if one in parameter.options]
    chosen = tuple(
        st.multiselect(
            parameter.label,
            parameter.options,
            format_func=titles.__getitem__,
            max_selections=parameter.most,
            key=key,
            help=parameter.help or None,
        )
    )
    if not chosen:
        st.info("Nothing is chosen, so the default is shown.")
        chosen = default
    link.keep(name, parameter, chosen, default)
    return chosen


def view_of(link: Link, views: Mapping[str, str]) -> str:
    """The views as buttons in a row; the first one is the default."""
    first = next(iter(views))
    parameter = Choice("View", options=tuple(views))
    key = f"{link.page}.view"
    asked: str = link.read("view", parameter, first)
    if link.changed or key not in st.session_state:
        st.session_state[key] = asked
    chosen: str | None = st.segmented_control(
        "View",
        views,
        format_func=views.__getitem__,
        key=key,
        required=True,
        label_visibility="collapsed",
    )
    link.keep("view", parameter, chosen or asked, first)
    return chosen or asked
