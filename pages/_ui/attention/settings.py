"""What the attention page can be asked: its settings, and the encodings that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import live
from pages._ui.attention.inputs import (
    NUM_HEADS,
    OWN_TABLE,
    Inputs,
    Scene,
    column,
    inputs,
    problem,
)
from pages._ui.controls import (
    Indices,
    Link,
    Several,
    Text,
    choose_in_order,
    setting,
)
from pages._ui.controls.along import Own, Shared
from pages._ui.controls.fields import Fields
from pages._ui.sentences import sentence
from pages._ui.server.installed_model import model_problem, needed_model
from posembed_core import AdditiveEncoding, CheckpointError, Encoding, EncodingError, encodings
from posembed_core.parameters import Choice, Flag, Integer, Real

PAGE = "attention"
COMPARED = ("none", "sinusoidal", "alibi", "rope")  # no position, then one for each door
SOURCE = Choice("Tokens and weights", options=("model", "random"))
FIELDS: Fields = {
    "text": (Text("Sentence", most=2000), "The keys to the cabinet are on the table"),
    "seed": (Integer("Token seed", low=0, high=2**32 - 1), 123),
    "sqrt_dim": (
        Flag("Tokens × √d", help="Vaswani et al. 2017, section 3.4: e times √d, p as it is"),
        True,
    ),
    "head": (Integer("Head", low=1, high=NUM_HEADS), 4),
    "causal": (
        Flag("Causal mask", help="A query sees itself and the keys before it, as in a decoder"),
        False,
    ),
}
# What a view asks for in its fragment; what the view shown doesn't ask for stays in the link.
OF_VIEWS: Fields = {
    "scale": (
        Real("Scale s", low=0.0, high=5.0, help="Multiplies what positions contribute; 0 is none"),
        1.0,
    ),
    "temperature": (
        Real("Temperature", low=0.05, high=10.0, help="Divides the scores before softmax"),
        1.0,
    ),
    "removed": (
        Real(
            "Position projected out",
            low=0.0,
            high=1.0,
            help="How much of the positions' directions queries and keys don't read; 1 is all",
        ),
        0.0,
    ),
    "shift": (Integer("Shift all positions by", low=0, high=2000), 100),
    "shuffle": (Integer("Shuffle seed", low=0, high=2**32 - 1), 1),
    "cell": (Indices("Cell", most=3), ()),
    "of": (Choice("Encoding", options=(*encodings(), OWN_TABLE)), ""),
}


@dataclass(frozen=True)
class Chosen:
    """What the controls above the pictures say; ``encodings`` are the columns.

    ``inputs`` are the scene's tensors, ``head`` is counted from 0.
    """

    scene: Scene
    inputs: Inputs
    slugs: Sequence[str]
    titles: Sequence[str]
    encodings: Sequence[Encoding]
    head: int
    causal: bool

    @property
    def additive(self) -> dict[str, tuple[str, AdditiveEncoding]]:
        """Title and encoding of each column whose vectors are added to the words, by its slug."""
        columns = zip(self.slugs, self.titles, self.encodings, strict=True)
        return {
            slug: (title, encoding)
            for slug, title, encoding in columns
            if isinstance(encoding, AdditiveEncoding)
        }


def shared(params: Mapping[str, str]) -> Shared:
    """What goes along to other pages and comes along from them, at these settings."""
    named = params.get("encodings")
    return Shared(
        fields={"text": Own("text", *FIELDS["text"]), "scale": Own("scale", *OF_VIEWS["scale"])},
        encoding="encodings",
        slugs=COMPARED if named is None else tuple(named.split("_")),
        most=len(COMPARED),
        prefixed=True,
    )


def choose_head(link: Link) -> tuple[int, bool]:
    """Which head is shown, counted from 0, and whether a mask hides later keys."""
    head = setting(link, "head", *FIELDS["head"], width=130) - 1
    return head, setting(link, "causal", *FIELDS["causal"])


def choose_scene(link: Link, folded: DeltaGenerator, row: DeltaGenerator) -> Scene:
    """The sentence, in the ``row``; whose words and weights, among the ``folded`` settings."""
    with folded:
        real = _choose_source(link)
        sqrt_dim = setting(link, "sqrt_dim", *FIELDS["sqrt_dim"])
        default_seed = FIELDS["seed"][1]
        seed = default_seed if real else setting(link, "seed", *FIELDS["seed"])
    with row:
        text = setting(link, "text", *FIELDS["text"])
    return Scene(real, text, seed, sqrt_dim)


def choose_encodings(
    link: Link, folded: DeltaGenerator, row: DeltaGenerator, *, real: bool
) -> dict[str, dict[str, Any]]:
    """The encodings to compare, in the ``row``, each with its own fields, which are ``folded``."""
    titles = _titles(real)
    with row, st.container(horizontal=True):
        parameter = Several("Encodings", options=tuple(titles))
        slugs = choose_in_order(link, "encodings", parameter, COMPARED, titles)
    with folded:
        return {slug: _choose_fields(link, slug, titles[slug]) for slug in slugs}


def chosen_or_why(
    scene: Scene, fields: Mapping[str, Mapping[str, Any]], head: int, causal: bool
) -> Chosen | None:
    """The scene with these encodings; None, with the reason on the page, where there is none.

    An encoding whose fields don't fit is left out, and the page says why.
    """
    try:
        given = inputs(scene)
    except (CheckpointError, EncodingError) as error:
        _say(error)
        return None
    if given.left_out:
        shown = len(given.tokens)
        st.info(f"Only the first {shown} of {shown + given.left_out} tokens can be shown.")
    columns = {slug: _column_or_why(slug, own, given) for slug, own in fields.items()}
    kept = {slug: encoding for slug, encoding in columns.items() if encoding is not None}
    titles = _titles(scene.real)
    return Chosen(
        scene=scene,
        inputs=given,
        slugs=tuple(kept),
        titles=tuple(titles[slug] for slug in kept),
        encodings=tuple(kept.values()),
        head=head,
        causal=causal,
    )


def finish(link: Link, *shown: str) -> None:
    """Put the settings into the link unless a slider is held; ``shown`` are those of this view."""
    for name, (parameter, default) in OF_VIEWS.items():
        if name not in shown:
            link.keep(name, parameter, link.read(name, parameter, default), default)
    link.show_notices()
    if not any(live.slider.is_dragging(f"{PAGE}.{name}") for name in shown):
        link.write()


def _choose_source(link: Link) -> bool:
    """Whether a real model's words and weights are shown; why not, where it has none."""
    why_not = model_problem() or problem()
    kind = setting(
        link, "tokens", SOURCE, "random" if why_not else "model", format_func=_source_title
    )
    if why_not and kind == "model":
        st.info(f"{why_not} Shown instead: the sentence split at spaces, with random vectors.")
    return kind == "model" and not why_not


def _source_title(kind: str) -> str:
    if kind == "random":
        return "Random vectors and weights"
    return f"{needed_model().name}, first layer" if not model_problem() else "A model"


def _titles(real: bool) -> Mapping[str, str]:
    """The title of each encoding that can be chosen, without the remark on its initialisation."""
    titles = {slug: cls.title.partition(" (at init")[0] for slug, cls in encodings().items()}
    return titles | ({OWN_TABLE: "The model's own table"} if real else {})


def _choose_fields(link: Link, slug: str, title: str) -> dict[str, Any]:
    """Widgets for an encoding's own fields, with its slug before their names in the link."""
    if slug == OWN_TABLE:
        return {}
    cls = encodings()[slug]
    own = [
        (name, parameter)
        for name, parameter in cls.parameters().items()
        if parameter.role == "option" and name != "num_heads"
    ]
    if not all(link.hides(f"{slug}.{name}") for name, _ in own):
        st.markdown(f"**{title}**")
    defaults = cls.__dataclass_fields__
    return {
        name: setting(link, f"{slug}.{name}", parameter, defaults[name].default)
        for name, parameter in own
    }


def _column_or_why(slug: str, fields: Mapping[str, Any], given: Inputs) -> Encoding | None:
    """The encoding in the sizes of the weights; None, with the reason on the page."""
    try:
        encoding = column(slug, fields, given.projections)
        if isinstance(encoding, AdditiveEncoding):
            encoding.check_positions([len(given.tokens) - 1])
    except EncodingError as error:
        _say(error)
        return None
    return encoding


def _say(error: Exception) -> None:
    st.error(sentence(error))
