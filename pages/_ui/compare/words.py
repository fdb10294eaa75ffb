"""What the comparison says about its pictures and its table."""

from __future__ import annotations

from pages._ui.compare.facts import NUM_HEADS, VIEWS
from pages._ui.compare.settings import Chosen


def alt(chosen: Chosen) -> str:
    """The pictures in one sentence."""
    return f"{VIEWS[chosen.view]} of {', '.join(chosen.titles.values())}."


def sizes(chosen: Chosen) -> str:
    """How many positions and dimensions were compared."""
    return f"{chosen.length} positions, {chosen.dimension} dimensions"


def about_the_table(chosen: Chosen) -> str:
    """What the columns of the table of facts mean."""
    return (
        f"{sizes(chosen)}, {NUM_HEADS} heads. Learned numbers: those of this setting, of one head "
        "where heads have their own. *Defined*: there is a value, but nothing in training prepared "
        "the model for it. Norms are means over positions."
    )
