"""The URL as the page's memory: settings are read from it, checked, and written back to it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages._ui.escaped import in_markdown
from pages._ui.numbers import with_minus_signs
from posembed_core.parameters import EncodingError, Parameter, shown

# What a link says of the shell around any page (lessons/bar.py), beside the page's own settings.
SHELL = frozenset({"lesson", "present", "hide", "lock"})
_RECORD = "link"
# A run asked for just before the browser learnt of a new URL still carries the old one.
_IN_FLIGHT_SECONDS = 1.5


class Link:
    """One page's settings as they stand in the URL, for one run of the page.

    `read` gives a setting's value and notes what is wrong with it; `keep` says what is shown now;
    `write` puts all that differ from their defaults into the URL. ``changed`` tells whether the URL
    is new (a first visit, a copied link, the browser's back button), so that widgets must follow.
    """

    def __init__(self, page: str) -> None:
        self.page = page
        self._notices: list[str] = []
        here, shell = _split()
        record = st.session_state.get(_RECORD)
        if record is None or record["page"] != page:
            record = {"page": page, "written": None, "before": None, "at": 0.0}
            st.session_state[_RECORD] = record
        in_flight = time.monotonic() - record["at"] < _IN_FLIGHT_SECONDS
        if in_flight and here == record["before"]:
            here = record["written"]
        self._record = record
        self._params: dict[str, str] = here
        self.changed = here != record["written"]
        self._kept: dict[str, str] = {}
        self._known: set[str] = set()
        self._hidden, self._locked = (_names(shell.get(what, "")) for what in ("hide", "lock"))
        self._controls: set[str] = set()

    def hides(self, name: str) -> bool:
        """Whether the link keeps this control from being shown."""
        self._controls.add(name)
        return name in self._hidden

    def locks(self, name: str) -> bool:
        """Whether the link keeps this control from being moved."""
        self._controls.add(name)
        return name in self._locked

    def read(self, name: str, parameter: Parameter, default: Any) -> Any:
        """The setting's value in the URL, its default where it has none.

        A value that isn't allowed becomes the nearest legal one, and a notice says so.
        """
        self._known.add(name)
        text = self._params.get(name)
        if text is None:
            return default
        try:
            return parameter.parse(name, text)
        except EncodingError as error:
            instead = default if error.nearest is None else error.nearest
            problem = with_minus_signs(str(error).partition(";")[0])
            shown_instead = with_minus_signs(parameter.format(instead)) or "none"
            self.note(
                f"The link has {name}={text[:40]}, but {problem}. Shown instead: {shown_instead}."
            )
            return instead

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
        if not self.changed:  # a setting that left the page with the widget before
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
        self._go(self._kept)
        self.changed = False

    def _go(self, params: Mapping[str, str]) -> None:
        here, shell = _split()
        if here != params:
            self._record.update(before=here, at=time.monotonic())
            st.query_params.from_dict({**params, **shell})
        self._record["written"] = dict(params)


def open_link(params: Mapping[str, str]) -> None:
    """Go to other settings of this page, as if a link had been followed; for callbacks."""
    st.query_params.from_dict({**params, **_split()[1]})


def follow_next() -> None:
    """Take the next URL for a new one, whatever it says; for a switch of pages or steps."""
    st.session_state.pop(_RECORD, None)


def _split() -> tuple[dict[str, str], dict[str, str]]:
    """The URL's settings of the page, and those of the shell around it."""
    here = st.query_params.to_dict()
    shell = {name: here.pop(name) for name in SHELL & here.keys()}
    return here, shell


def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\s,]+", text[:500]))
