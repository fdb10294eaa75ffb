"""What the comparison says about its pictures and its table."""

from __future__ import annotations

from pages._ui.compare.facts import VIEWS
from pages._ui.compare.groups import (
    FACTOR,
    NUM_HEADS,
    SHOWN,
    TRAINED,
    combine_link,
    length_of,
    sized,
)
from pages._ui.compare.settings import Chosen
from pages._ui.fading import fading
from pages._ui.sentences import counted


def alt(chosen: Chosen) -> str:
    """The pictures in one sentence."""
    titles = "; ".join(chosen.titles.values())
    compared = counted(len(chosen.titles), "encoding")
    return f"{VIEWS[chosen.view]} of {compared}: {titles}. {sizes(chosen)}."


def clicked(chosen: Chosen, trace: str) -> dict[str, str]:
    """The landing page's settings that show the encoding that a trace of the pictures is of."""
    belongs = (slug for slug, title in chosen.titles.items() if _is_of(trace, title))
    return combine_link(next(belongs), chosen.length, chosen.dimension, chosen.head)


def fadings(chosen: Chosen) -> str:
    """What the encodings compared do to scores besides what their pictures show."""
    encodings = (sized(slug, chosen.length, chosen.dimension) for slug in chosen.slugs)
    sentences = [fading(each, length_of(each, chosen.length)) for each in encodings]
    return " ".join(sentence for sentence in sentences if sentence)


def _is_of(trace: str, title: str) -> bool:
    return trace == title or trace.rpartition(" ")[0] == title


def sizes(chosen: Chosen) -> str:
    """How many positions and dimensions were compared."""
    return f"{chosen.length} positions, {chosen.dimension} dimensions"


def about_the_table(chosen: Chosen) -> str:
    """What the columns of the table of facts mean."""
    return (
        f"{sizes(chosen)}. Rotations are shown at {SHOWN} positions, scaled by {FACTOR:g} after "
        f"training on {TRAINED}. *Numbers learned*: all that training shapes, in a bias those of "
        f"all {NUM_HEADS} heads, where position acts on projections those of one head (or of a "
        "table that the heads share). *Defined*: there is a value, but "
        "nothing in training prepared the model for it. *‖h − e‖*: how far a position moves a "
        "token's vector, the mean over positions; — where it acts inside attention and h = e."
    )
