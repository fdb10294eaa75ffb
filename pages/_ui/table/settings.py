"""What the table page can be asked besides the training: which view, and what of it."""

from __future__ import annotations

from dataclasses import dataclass

from pages._ui import live
from pages._ui.controls import Link, setting
from pages._ui.table.sources import formulas
from pages._ui.table.training import Progress
from pages._ui.table.words import BEYOND, DEFINITIONS
from posembed_core import PositionTable, TrainingSpec
from posembed_core.parameters import Choice, Flag, Integer

PAGE = "table"
BEYOND_WAY = Choice("Beyond the end", options=tuple(BEYOND))
MEASURE = Choice("Measure", options=tuple(DEFINITIONS))
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


def choose_measure(link: Link) -> str:
    """Which measure is shown."""
    measure: str = setting(
        link, "measure", MEASURE, "similarity", format_func=str.capitalize, width=230
    )
    return measure


def choose_spreads(link: Link) -> bool:
    """Whether tables are shown in units of their own spread."""
    in_spreads: bool = setting(link, "spreads", IN_SPREADS, True)
    return in_spreads


def choose_full(link: Link) -> bool:
    """Whether colours end at the greatest value, however far it lies from all others."""
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
