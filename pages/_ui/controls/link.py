"""The URL as the page's memory: settings are read from it, checked, and written back to it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._ui.controls.along import Along, Sharing, fill, learn, nothing, read_or_nearest
from pages._ui.escaped import in_markdown
from pages._ui.numbers import with_minus_signs
from posembed_core.parameters import Parameter, shown

# What a link says of the shell around any page (lessons/bar.py), beside the page's own settings.
SHELL = frozenset({"lesson", "present", "hide", "lock"})
_EVERYWHERE = ("lesson", "present")
_RECORD, _MEMORY, _PAGE, _BY_MENU = "link", "link.memory", "link.page", "link.by_menu"
# A run asked for just before the browser learnt of a new URL still carries the old one.
_IN_FLIGHT_SECONDS = 1.5


class Link:
    """One page's settings as they stand in the URL, for one run of the page.

    `read` gives a setting's value and notes what is wrong with it; `keep` says what is shown now;
    `write` puts all that differ from their defaults into the URL. ``changed`` tells whether the URL
    is new (a first visit, a copied link, the browser's back button), so that widgets must follow.

    sharing: what of the settings goes along to other pages, and comes along from them.
    """

    def __init__(self, page: str, sharing: Sharing = nothing) -> None:
        self.page = page
        self._sharing = sharing
        self._notices: list[str] = []
        here, shell = _split()
        record = st.session_state.get(_RECORD)
        if record is None or record["page"] != page:
            record = {"page": page, "written": None, "before": None, "after": None, "at": 0.0}
            st.session_state[_RECORD] = record
        self._record = record
        # The menu names no settings: the page goes on as it was left, with what came along.
        record["by_menu"] = st.session_state.pop(_BY_MENU, False) or (
            record["written"] is None and record.get("by_menu", False)
        )
        if record["by_menu"] and not here:
            memory, told = _memory(), _memory().told.setdefault(page, {})
            here = fill(memory.along, sharing, memory.pages.get(page, {}), told)
            self._ask_for(here, shell, before={})
        in_flight = time.monotonic() - record["at"] < _IN_FLIGHT_SECONDS
        if in_flight and here == record["before"]:
            here = record["after"]
        self._params: dict[str, str] = here
        self.changed = here != record["written"]
        self._kept: dict[str, str] = {}
        self._known: set[str] = set()
        self._hidden, self._locked = (_names(shell.get(what, "")) for what in ("hide", "lock"))
        # What a link to another page keeps: the names of controls are this page's own.
        self.around = tuple((what, shell[what]) for what in _EVERYWHERE if what in shell)
        self._away: set[str] = set()
        self._controls: set[str] = set()

    def hides(self, name: str) -> bool:
        """Whether this control isn't shown: the link hides it, or it would do nothing here."""
        self._controls.add(name)
        return name in self._hidden or name in self._away

    def locks(self, name: str) -> bool:
        """Whether the link keeps this control from being moved."""
        self._controls.add(name)
        return name in self._locked

    def put_away(self, *names: str) -> None:
        """Show no controls that would do nothing here; what they were set to stays in the link."""
        self._away.update(names)

    def now(self, name: str, key: str, default: Any) -> Any:
        """A setting before it is asked for: what a new URL says, unchecked, else the widget."""
        asked = self._params.get(name, default)
        return asked if self.changed else st.session_state.get(key, asked)

    def read(self, name: str, parameter: Parameter, default: Any) -> Any:
        """The setting's value in the URL, its default where it has none.

        A value that isn't allowed becomes the nearest legal one, and a notice says so.
        """
        self._known.add(name)
        text = self._params.get(name)
        if text is None:
            return default
        value, error = read_or_nearest(name, parameter, text, default)
        if error is not None:
            problem = with_minus_signs(str(error).partition(";")[0])
            if self._record["by_menu"]:
                problem = problem.rpartition(", got ")[0] or problem
            shown_instead = with_minus_signs(parameter.format(value)) or "none"
            origin = self.origin(name, parameter, text)
            self.note(f"{origin}, but {problem}. Shown instead: {shown_instead}.")
        return value

    def origin(self, name: str, parameter: Parameter, text: str) -> str:
        """The beginning of a sentence: which value it is about, and where it is from."""
        if self._record["by_menu"]:
            return f"{parameter.label} {text[:40]} came along"
        return f"The link has {name}={text[:40]}"

    def keep(self, name: str, parameter: Parameter, value: Any, default: Any) -> None:
        """Say what is shown now; a default needs no place in the URL."""
        self._known.add(name)
        self._kept[name] = "" if value == default else parameter.format(value)
        if value == default or (value is None and default is None):
            self._kept.pop(name)

    def carry(self, *names: str) -> None:
        """Leave settings in the URL as they are, though nothing shows them now."""
        for name in self._params.keys() & set(names):
            self._kept[name] = self._params[name]

    def note_unknown(self, *later: str) -> None:
        """A notice for what stands in a new URL and is no setting, here or ``later`` in the run."""
        # A setting that left the page with the widget before, or that was on it when it was left.
        if not self.changed or self._record["by_menu"]:
            return
        for name in sorted(self._params.keys() - self._known - set(later)):
            self.note(f"The link has {shown(name)}, which is not a setting here; it is ignored.")
        for name in sorted((self._hidden | self._locked) - self._controls - set(later)):
            self.note(f"The link hides or locks {shown(name)}, which is not a control here.")

    def note(self, sentence: str) -> None:
        """Have something to say about the URL."""
        self._notices.append(sentence)

    def show_notices(self) -> None:
        """Show what was noted since the last call."""
        for notice in self._notices:
            st.warning(in_markdown(notice))
        self._notices.clear()

    def write(self) -> None:
        """Put what was kept into the URL, if it says something else."""
        here, shell = _split()
        if here != self._kept:
            self._ask_for(self._kept, shell, before=here)
        if not self._record["by_menu"]:
            before = None if self.changed else self._record["written"]
            learn(_memory().along, self._sharing, before, self._kept)
        self._record.update(written=dict(self._kept), by_menu=False)
        _memory().pages[self.page] = dict(self._kept)
        self.changed = False

    def _ask_for(
        self, params: Mapping[str, str], shell: Mapping[str, str], before: Mapping[str, str]
    ) -> None:
        self._record.update(before=before, after=dict(params), at=time.monotonic())
        st.query_params.from_dict({**params, **shell})


@dataclass
class Memory:
    """What a visitor's pages were left with, by page; what goes along, and what of it was told."""

    pages: dict[str, dict[str, str]] = field(default_factory=dict)
    told: dict[str, dict[str, str]] = field(default_factory=dict)
    along: Along = field(default_factory=dict)


def arrive(page: str) -> None:
    """Call at the start of each run: a page to which the menu led goes on as it was left.

    The menu leads to a page without any settings, where a link, a lesson and the browser's Back and
    Forward say which.
    """
    before = st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    if before != page:
        st.session_state.pop(_RECORD, None)
        # A projector's menu keeps it presenting.
        names = set(st.query_params) - {"present"}
        st.session_state[_BY_MENU] = not names and not _is_back_or_forward()


def came_along(name: str) -> str | None:
    """The text of what goes along from page to page, by its name; None where nobody set it."""
    return _memory().along.get(name)


def open_link(params: Mapping[str, str]) -> None:
    """Go to other settings of this page, as if a link had been followed; for callbacks."""
    st.query_params.from_dict({**params, **_split()[1]})


def follow_next() -> None:
    """Take the next URL for a new one, whatever it says; for a switch of pages or steps."""
    st.session_state.pop(_RECORD, None)


def settings_in_url() -> bool:
    """Whether the URL has any settings of a page."""
    return bool(_split()[0])


def _memory() -> Memory:
    memory: Memory = st.session_state.setdefault(_MEMORY, Memory())
    return memory


def _is_back_or_forward() -> bool:
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _split() -> tuple[dict[str, str], dict[str, str]]:
    """The URL's settings of the page, and those of the shell around it."""
    here = st.query_params.to_dict()
    shell = {name: here.pop(name) for name in SHELL & here.keys()}
    return here, shell


def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\s,]+", text[:500]))
