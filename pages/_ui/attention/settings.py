"""What the attention page can be asked: its settings, and the encodings that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._ui import live
from pages._ui.attention.inputs import NUM_HEADS, OWN_TABLE, Inputs, Scene, column, problem
from pages._ui.controls.controls import Indices, Text, setting
from pages._ui.controls.link import Link
from pages._ui.server import cached
from posembed_core import AdditiveEncoding, Encoding, EncodingError, encodings
from posembed_core.parameters import Choice, Flag, Integer, Parameter, Real

PAGE = "attention"
EXAMPLE = "The keys to the cabinet are on the table"
COMPARED = ("none", "sinusoidal", "alibi", "rope")  # no position, then one for each door
SOURCE = Choice("Words and weights", options=("model", "random"))
SENTENCE = Text("Sentence", most=2000)
HEAD = Integer("Head", low=1, high=NUM_HEADS)
CAUSAL = Flag("Causal mask", help="A query sees itself and the keys before it, as in a decoder")
SQRT_DIM = Flag("Words × √d", help="Vaswani et al. 2017, section 3.4: words times √d before p")
SEED = Integer("Word seed", low=0, high=2**32 - 1)
SHUFFLE = Integer("Shuffle seed", low=0, high=2**32 - 1)
CELL = Indices("Cell", most=3)
SCALE = Real("Scale s", low=0.0, high=5.0, help="Strength of position; 0 is none")
TEMPERATURE = Real("Temperature", low=0.05, high=10.0, help="Divides the scores before softmax")
SHIFT = Integer("Shift all positions by", low=0, high=2000)

# What a view asks for in its fragment, with its default; the others keep their place in the link.
LATER: Mapping[str, tuple[Parameter, Any]] = {
    "scale": (SCALE, 1.0),
    "temperature": (TEMPERATURE, 1.0),
    "shift": (SHIFT, 100),
    "shuffle": (SHUFFLE, 1),
    "cell": (CELL, ()),
    "of": (Choice("Encoding", options=(*encodings(), OWN_TABLE)), ""),
}


@dataclass(frozen=True)
class Chosen:
    """What the controls above the pictures say; ``encodings`` are the columns."""

    scene: Scene
    there: Inputs
    slugs: Sequence[str]
    titles: Sequence[str]
    encodings: Sequence[Encoding]
    head: int
    causal: bool


def choose_source(link: Link) -> bool:
    """Whether a real model's words and weights are shown; why not, where there are none."""
    why_not = cached.model_problem() or problem()
    kind = setting(
        link, "tokens", SOURCE, "random" if why_not else "model", format_func=source_title
    )
    if why_not and kind == "model":
        st.info(f"{why_not} Shown instead: words split at spaces, as random vectors.")
    return kind == "model" and not why_not


def source_title(kind: str) -> str:
    """What a source is called."""
    if kind == "random":
        return "Random vectors and weights"
    return f"{cached.needed_model().name}, first layer" if not cached.model_problem() else "A model"


def menu(real: bool) -> Mapping[str, str]:
    """The title of each encoding that can be chosen, without the remark on its initialisation."""
    titles = {slug: cls.title.partition(" (at init")[0] for slug, cls in encodings().items()}
    return titles | ({OWN_TABLE: "The model's own table"} if real else {})


def fields_of(link: Link, slug: str, title: str) -> dict[str, Any]:
    """Widgets for an encoding's own fields, with its slug before their names in the link."""
    if slug == OWN_TABLE:
        return {}
    cls = encodings()[slug]
    own = [
        (name, one)
        for name, one in cls.parameters().items()
        if one.role == "option" and name != "num_heads"
    ]
    if own:
        st.markdown(f"**{title}**")
    defaults = cls.__dataclass_fields__
    return {
        name: setting(link, f"{slug}.{name}", parameter, defaults[name].default)
        for name, parameter in own
    }


def column_or_why(slug: str, fields: Mapping[str, Any], there: Inputs) -> Encoding | None:
    """The encoding in the sizes of the weights; None, with the reason on the page."""
    try:
        encoding = column(slug, fields, there.projections)
        if isinstance(encoding, AdditiveEncoding):
            encoding.check_positions([len(there.tokens) - 1])
    except EncodingError as error:
        say(error)
        return None
    return encoding


def finish(link: Link, *shown: str) -> None:
    """Put the settings into the link unless a slider is held; ``shown`` are those of this view."""
    for name, (parameter, default) in LATER.items():
        if name not in shown:
            link.keep(name, parameter, link.read(name, parameter, default), default)
    link.show_notices()
    if not any(live.is_dragging(f"{PAGE}.{name}") for name in shown):
        link.write()


def say(error: Exception) -> None:
    """An error as a sentence on the page."""
    st.error(f"{str(error)[0].upper()}{str(error)[1:]}.")
