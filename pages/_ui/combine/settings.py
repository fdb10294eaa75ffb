"""What the landing page can be asked: fields with their defaults, as widgets or as a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import streamlit as st

from pages._ui.bars import slider_bar
from pages._ui.controls import (
    Indices,
    Link,
    Text,
    encoding_choice,
    encoding_fields,
    open_link,
    setting,
    slider,
)
from pages._ui.controls.along import Own, Shared
from pages._ui.controls.controls import sizes
from pages._ui.controls.fields import Fields, read_fields
from pages._ui.controls.link import came_along
from pages._ui.server.installed_model import model_problem, needed_model, sentence
from pages._ui.server.setting import RandomTokens, SentenceTokens, Setting
from posembed_core import RotaryEncoding, create, encodings
from posembed_core.base import MAX_DIM, MAX_LENGTH, BiasEncoding, Encoding
from posembed_core.operations import Operation
from posembed_core.parameters import Choice, Flag, Integer, Real
from posembed_core.tables.position_table import PositionTable

PAGE = "combine"
CHART = f"{PAGE}.plot"  # the key of its live plot
OWN_TABLE = "model"  # in the menu of encodings: the position table of the sentence's model
EXAMPLE = "The keys to the cabinet are on the table."
ENCODING = "sinusoidal"

# Every setting but the encoding and its own fields, each with its default.
SLIDERS: Fields = {
    "length": (
        Integer(
            "Max length",
            low=1,
            high=MAX_LENGTH,
            help="How many positions there are, counted from 0; each has one token, and what a "
            "sentence has beyond is cut",
        ),
        128,
    ),
    "dimension": (
        Integer("Dimension", low=2, high=MAX_DIM, help="How many numbers each vector has"),
        64,
    ),
    "scale": (
        Real("Scale s", low=0.0, high=5.0, help="Multiplies what positions contribute; 0 is none"),
        1.0,
    ),
}
FIELDS: Fields = {
    "tokens": (Choice("Tokens", options=("random", "sentence")), "random"),
    "text": (Text("Sentence", most=4000), EXAMPLE),
    "token_seed": (Integer("Token seed", low=0, high=2**32 - 1), 123),
    "token_std": (Real("Token std", low=0.0, high=100.0), 0.5),
    "token_skip": (Integer("Token draws skipped", low=0, high=10**7), 0),
    "operation": (Choice("Operation", options=get_args(Operation)), "add"),
    "layer_norm": (
        Flag("LayerNorm after", help="Normalise h, as BERT does (biased variance)"), False
    ),
    "sqrt_dim": (
        Flag("Tokens × √d", help="Vaswani et al. 2017, section 3.4: e times √d, p as it is"), False
    ),
    "head": (Integer("Head shown", low=1, high=256), 1),
    "at": (Indices("Numbers at positions", help="Up to eight, separated by spaces"), (0, 5, 9)),
    **SLIDERS,
    # The scale whose pictures the colours fit; without one, those of e and of p at scale 1.
    "fit": (Real("Colours fit scale", low=0.0, high=5.0, optional=True), None),
    "cell": (Indices("Cell", most=3), ()),
    "zoom": (Indices("Zoom", most=4), ()),
}  # fmt: skip

# The handbook's three printed outputs, as links to this page.
PRESETS = {
    "The table: seed 42, 128 × 64": {"encoding": "learned", "at": "0_1_2_3_4"},
    "Combining: 10 tokens, 64 dimensions": {"encoding": "learned", "length": "10"},
    "Injection: 4 × 8, positions × 0.1": {
        "encoding": "learned", "length": "4", "dimension": "8", "at": "0_1_2_3",
        "token_skip": "24", "token_std": "1", "seed": "123", "skip": "56", "std": "0.1",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """What the controls above the sliders say; ``head`` is counted from 0."""

    source: RandomTokens | SentenceTokens
    slug: str
    fields: Mapping[str, Any]
    operation: Operation
    layer_norm: bool
    sqrt_dim: bool
    head: int
    at: tuple[int, ...]

    @property
    def family(self) -> type[Encoding]:
        """The class of the encoding."""
        return encodings().get(self.slug, PositionTable)

    @property
    def in_words(self) -> bool:
        """Whether a sentence is shown, in the width of its model."""
        return isinstance(self.source, SentenceTokens)

    @property
    def tokens(self) -> tuple[str, ...]:
        """All of the sentence's tokens, none for random ones."""
        return sentence_tokens(self.source)

    @property
    def problem(self) -> str:
        """Why the sentence can't be read, in one sentence; empty where there is no such reason."""
        return model_problem() if self.in_words else ""

    def setting(self, length: int, dimension: int, window: Mapping[str, Any]) -> Setting:
        """The whole setting at these sizes and this zoom.

        Raises `EncodingError` where the encoding's fields don't fit together.
        """
        encoding = (
            needed_model().positions
            if self.slug == OWN_TABLE
            else create(self.slug, **self.fields, **sizes(self.family, length, dimension))
        )
        return Setting(
            source=self.source,
            length=length,
            dimension=dimension,
            encoding=encoding,
            operation=self.operation,
            layer_norm=self.layer_norm,
            sqrt_dim=self.sqrt_dim,
            head=self.head,
            window=(*window.get("xaxis", (None, None)), *window.get("yaxis", (None, None))),
        )


def read_link(params: Mapping[str, str]) -> tuple[Setting, float]:
    """The setting, and the scale, of a link to this page that has no sentence.

    Raises `EncodingError` for a value that isn't allowed, where the page would show another one.
    """
    values, cls = read_fields(FIELDS, params), encodings()[params.get("encoding", ENCODING)]
    chosen = Chosen(
        source=RandomTokens(*(values[f"token_{name}"] for name in ("seed", "std", "skip"))),
        slug=cls.slug,
        fields={
            name: parameter.parse(name, params[name])
            for name, parameter in cls.parameters().items()
            if parameter.role == "option" and name in params
        },
        operation=values["operation"],
        layer_norm=values["layer_norm"],
        sqrt_dim=values["sqrt_dim"],
        head=values["head"] - 1,
        at=values["at"],
    )
    return chosen.setting(values["length"], values["dimension"], {}), values["scale"]


def shared(params: Mapping[str, str]) -> Shared:
    """What goes along to other pages and comes along from them, at these settings."""
    in_words = params.get("tokens") == "sentence"
    # A sentence has the width of its model; random tokens have no sentence.
    names = ("text", "length", "scale") if in_words else ("length", "dimension", "scale")
    return Shared(
        fields={name: Own(name, *FIELDS[name]) for name in names},
        encoding="encoding",
        slugs=(params.get("encoding", ENCODING),),
        prefixed=False,
    )


def choose(link: Link) -> Chosen:
    """Widgets for tokens and encoding, to stand in a row; the others are folded."""
    kind = _ask(link, "tokens", on_change=_switch_tokens, width=130)
    own = {OWN_TABLE: "The model's own table"} if kind == "sentence" else {}
    menu, titles = encoding_choice(own)
    slug = setting(link, "encoding", menu, ENCODING, format_func=titles.__getitem__, width=220)
    with st.popover("More"):
        chosen = _choose_more(link, slug, kind)
    with st.popover("Handbook"):
        st.caption("The handbook's printed outputs, number for number:")
        for title, params in PRESETS.items():
            st.button(title, on_click=open_link, args=(params,), type="tertiary")
    return chosen


def type_sentence(link: Link, chosen: Chosen) -> Chosen:
    """A field for the sentence, where one is shown."""
    if not chosen.in_words:
        return chosen
    return replace(chosen, source=SentenceTokens(_ask(link, "text")))


def choose_sizes(link: Link, chosen: Chosen) -> tuple[int, int, float]:
    """The live sliders: length, dimension and scale. For the fragment that draws the pictures."""
    model = needed_model() if chosen.in_words else None
    pairs = issubclass(chosen.family, RotaryEncoding)
    if pairs or chosen.family.door == "none":
        link.put_away("fit")  # a turn makes no number larger
    if chosen.family.door == "none":
        link.put_away("scale")
    with slider_bar():
        length = slider(link, "length", *SLIDERS["length"], step=1, log=True)
        dimension = slider(
            link, "dimension", *SLIDERS["dimension"], step=2 if pairs else 1, log=True,
            fixed=model.embed_dim if model else None, fixed_by="the model's width",
        )  # fmt: skip
        scale = slider(link, "scale", *SLIDERS["scale"], step=0.01)
        _fit_colours(link, scale)
    return length, dimension, scale


def fitted_at(link: Link) -> float | None:
    """The scale whose pictures the colours fit, as a button or the link says; None for none."""
    key, (parameter, default) = f"{PAGE}.fit", FIELDS["fit"]
    if link.changed:
        st.session_state[key] = link.read("fit", parameter, default)
    fitted: float | None = st.session_state.get(key, default)
    link.keep("fit", parameter, fitted, default)
    return fitted


def _fit_colours(link: Link, scale: float) -> None:
    fitted = fitted_at(link)
    if link.hides("fit"):
        return
    st.button(
        "Fit colours" if fitted is None else "Reset colours",
        key=f"{PAGE}.fit_button",
        on_click=_set_fit,
        args=(scale if fitted is None else None,),
        help="Colours stand still while the scale moves. Let them end where the values do now, or "
        "again where those of e, and of p at scale 1, do.",
        disabled=link.locks("fit"),
        width=150,
    )


def _set_fit(scale: float | None) -> None:
    st.session_state[f"{PAGE}.fit"] = scale


def sentence_tokens(source: RandomTokens | SentenceTokens) -> tuple[str, ...]:
    """All of the sentence's tokens, none for random ones."""
    return sentence(source.text).tokens if isinstance(source, SentenceTokens) else ()


def _choose_more(link: Link, slug: str, kind: str) -> Chosen:
    cls = encodings().get(slug)
    fields = encoding_fields(link, cls) if cls else {}
    source: RandomTokens | SentenceTokens = SentenceTokens("")
    if kind == "random":
        source = RandomTokens(*(_ask(link, f"token_{name}") for name in ("seed", "std", "skip")))
    has_heads = cls is not None and issubclass(cls, BiasEncoding)
    return Chosen(
        source=source,
        slug=slug,
        fields=fields,
        operation=_ask(link, "operation"),
        layer_norm=_ask(link, "layer_norm"),
        sqrt_dim=_ask(link, "sqrt_dim"),
        head=_ask(link, "head") - 1 if has_heads else 0,
        at=_ask(link, "at"),
    )


def _ask(link: Link, name: str, **options: Any) -> Any:
    return setting(link, name, *FIELDS[name], **options)


def _switch_tokens() -> None:
    """A sentence starts with its model's own table, which random tokens can't have."""
    sentence = st.session_state[f"{PAGE}.tokens"] == "sentence"
    # A state that a browser didn't send need not have both.
    if sentence or st.session_state.get(f"{PAGE}.encoding") == OWN_TABLE:
        st.session_state[f"{PAGE}.encoding"] = OWN_TABLE if sentence else ENCODING
    if sentence and (text := came_along("text")) is not None:
        st.session_state[f"{PAGE}.text"] = text
