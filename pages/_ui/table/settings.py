"""What the table page can be asked besides the training: which view, and what of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._ui import live
from pages._ui.controls import Link, setting
from pages._ui.table.colours import Ends
from pages._ui.table.sources import formulas, has_patches
from pages._ui.table.training import Progress
from pages._ui.table.words import BEYOND, DEFINITIONS
from posembed_core import EncodingError, PositionTable, TrainingSpec
from posembed_core.parameters import Choice, Flag, Integer

PAGE = "table"
BEYOND_WAY = Choice("Beyond the end", options=tuple(BEYOND))
IN_SPREADS = Flag("In units of each table's spread", help="Divided by the standard deviation")
FULL = Flag(
    "Full colour range", help="Colours end at the greatest value, not already at about 4 spreads"
)
NEGATIVE = 8  # how far below 0 a position can be asked for


@dataclass(frozen=True, eq=False)
class Chosen:
    """What the controls above a view say: the run, up to which step, and the reader's own table.

    ``progress`` is how far the run is now.
    """

    spec: TrainingSpec
    goal: int
    progress: Progress
    own: PositionTable | None


def choose_beyond(link: Link) -> tuple[str, str]:
    """What happens beyond a table's end, and the slug of the formula for it; "" for none."""
    way = setting(link, "beyond", BEYOND_WAY, "error", format_func=BEYOND.__getitem__, width=230)
    if way != "formula":
        return way, ""
    known = formulas()
    menu = Choice("Formula", options=tuple(known))
    slug = setting(link, "formula", menu, menu.options[0], format_func=known.__getitem__, width=230)
    return way, slug


@dataclass(frozen=True)
class _MeasureOf(Choice):
    """A measure of a table with so many ``rows``."""

    rows: int = 0

    def check(self, name: str, value: Any) -> str:
        """The measure's name."""
        if value == "patches" and value not in self.options:
            raise EncodingError(
                f"{self.rows} positions do not form a square of patches, as a vision model's do",
                field=name,
            )
        return super().check(name, value)


def choose_measure(link: Link, table: PositionTable) -> str:
    """Which measure of a table is shown; only a square of patches has tiles."""
    key, default = f"{PAGE}.measure", "similarity"
    names = tuple(name for name in DEFINITIONS if name != "patches" or has_patches(table))
    if st.session_state.get(key) not in names:  # another table had it: the link tells why not here
        st.session_state.pop(key, None)
    measure: str = setting(
        link, "measure", _MeasureOf("Measure", options=names, rows=table.max_seq_len), default,
        format_func=str.capitalize, width=230,
    )  # fmt: skip
    return measure


def choose_spreads(link: Link) -> bool:
    """Whether tables are shown in units of their own spread."""
    in_spreads: bool = setting(link, "spreads", IN_SPREADS, True)
    return in_spreads


def choose_full(link: Link, ends: Callable[[bool], Ends]) -> bool:
    """Whether colours end at the greatest value, however far it lies from all others.

    ends: where they end with it and without it; it isn't asked for where that is the same.
    """
    if ends(True).peak == ends(False).peak:
        link.put_away("full")
    full: bool = setting(link, "full", FULL, False)
    return full


def positions_to_ask(rows: int, length: int) -> tuple[Integer, int]:
    """The slider of a position in a table that is shown with ``length`` rows, and its default."""
    top = max(length, rows + 1) - 1
    return Integer("Position i", low=-NEGATIVE, high=top), 5 if rows > 5 else 0


def finish(link: Link, *later: str) -> None:
    """Say what was wrong with the link, once all that reads it has done so; ``later`` come yet."""
    link.note_unknown(*later)
    link.show_notices()
    if not later:
        link.write()


def write(link: Link, *sliders: str) -> None:
    """Put the settings into the URL unless a slider is held."""
    link.show_notices()
    if not any(live.slider.is_dragging(f"{PAGE}.{name}") for name in sliders):
        link.write()
