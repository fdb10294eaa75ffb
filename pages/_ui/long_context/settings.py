"""What the page about long contexts asks: a config, its layers, what is drawn, three lengths."""

from __future__ import annotations

import json
from dataclasses import dataclass

import streamlit as st

from pages._ui.bars import slider_bar
from pages._ui.controls import Link, Text, open_link, setting, slider
from pages._ui.figures.rope_pairs import QUANTITIES
from pages._ui.figures.two_pictures import Lengths
from pages._ui.long_context.reading import Group, Reading, reading_of
from pages._ui.long_context.words import pretty
from pages._ui.sentences import counted
from posembed_core import EncodingError, RotaryEncoding
from posembed_core.long_context.pairs import MAX_DISTANCE
from posembed_core.long_context.precision import ARITHMETICS
from posembed_core.long_context.report import trained_is_given
from posembed_core.model_config import (
    PythonDictError,
    RopeSettings,
    known_configs,
    read_config,
)
from posembed_core.parameters import Choice, Integer

PAGE = "long-context"
OWN = "own"
MODELS = {name.lower().replace(" ", "-"): name for name in known_configs()} | {OWN: "Your config"}
MODEL = Choice("Config", options=tuple(MODELS))
CONFIG = Text("Config", most=4000)
QUANTITY = Choice("Left picture", options=QUANTITIES)
ARITHMETIC = Choice("Precision", options=tuple(ARITHMETICS))
TRAINED = Integer("Trained length", low=1, high=MAX_DISTANCE, help="Tokens seen before scaling")
WANTED = Integer("Wanted length", low=1, high=MAX_DISTANCE, help="Tokens of the whole sequence")
POSITION = Integer("Position", low=1, high=MAX_DISTANCE, help="Where angles are shown")
SLIDERS = ("trained", "wanted", "position")
TRAINED_FIELD = "original_max_position_embeddings"
_UNBOUND = 10**15  # no config's length is greater
_START = 4096  # where the sliders begin for a config without a length


@dataclass(frozen=True)
class Chosen:
    """A model's layers of one kind, its config as it was read, and what is drawn of them."""

    model: str
    reading: Reading
    group: Group
    quantity: str
    arithmetic: str

    @property
    def settings(self) -> RopeSettings:
        """The settings of these layers, which rotate."""
        if self.group.settings is None:
            raise ValueError(f"layers called {self.group.name!r} don't rotate")
        return self.group.settings

    @property
    def encoding(self) -> RotaryEncoding:
        """The RoPE of these layers."""
        return self.settings.encoding


def question(reading: Reading, group: Group | None) -> str:
    """What the page answers, in the config's own numbers, or what it can't."""
    if reading.has_no_rope:
        known = reading.position is not None and reading.position.has is not None
        return (
            "This model has no RoPE."
            if known
            else "What this model does with position isn't known."
        )
    if group is None:
        return "This config can't be read."
    if group.settings is None:
        return "These layers don't rotate."
    trained, wanted = _lengths_of(group.settings, most=_UNBOUND)
    if not trained_is_given(group.settings):
        if group.settings.wanted_length is None:
            return "This config gives no length."
        return f"Asked for {counted(wanted, 'token')}; how many it was trained on isn't said."
    if wanted <= trained:
        return f"Trained on {counted(trained, 'token')}, and asked for no more."
    return f"Trained on {counted(trained, 'token')}, asked for {wanted:,}. How?"


@dataclass(frozen=True)
class Sliders:
    """The lengths in tokens, and the position at which angles are shown."""

    lengths: Lengths
    position: int


def choose_config(link: Link) -> tuple[str, Reading]:
    """A well-known model, or a config to read, edit, paste or upload: its name, and its text."""
    model = setting(
        link, "model", MODEL, "llama-3.1-8b", format_func=MODELS.get, on_change=_switch_model
    )
    with st.popover("config.json"):
        text = _config_text(link, model)
    return ("your config" if model == OWN else MODELS[model]), reading_of(text)


def offer_json(text: str | bytes) -> None:
    """Under the words about a Python dict, a button that puts its JSON in the dict's place."""
    if isinstance(text, str) and (as_json := _json_of_dict(text)) is not None:
        st.button("Read it as JSON", on_click=_use_json, args=(as_json,))


def choose_layers(link: Link, reading: Reading) -> Group | None:
    """The kind of layers to show, with its formula beside it; None where there are none."""
    groups = {group.name: group for group in reading.groups}
    if not groups:
        return None
    name = next(iter(groups))
    if len(groups) > 1:
        if st.session_state.get(f"{PAGE}.layers") not in groups:  # another config's layers
            st.session_state.pop(f"{PAGE}.layers", None)
        parameter = Choice("Layers", options=tuple(groups))
        words = {name: group.words for name, group in groups.items()}
        name = setting(link, "layers", parameter, name, width=210, format_func=words.get)
    if (settings := groups[name].settings) is not None:
        with st.popover("Formula"):
            st.markdown(f"${settings.encoding.formula}$")
            st.caption(settings.encoding.reference)
    return groups[name]


def choose_pictures(link: Link, settings: RopeSettings | None) -> tuple[str, str]:
    """What the left picture shows of each pair, and in which precision a program computes.

    Without ``settings`` nothing is drawn, and nothing is asked.
    """
    if settings is None:
        shown = (
            link.read("quantity", QUANTITY, QUANTITIES[0]),
            link.read("precision", ARITHMETIC, "float32"),
        )
        link.carry("quantity", "precision", *SLIDERS)
        return shown
    quantity = setting(link, "quantity", QUANTITY, QUANTITIES[0], width=150)
    arithmetic = setting(
        link,
        "precision",
        ARITHMETIC,
        "float32",
        format_func=lambda name: ARITHMETICS[name].title,
    )
    return quantity, arithmetic


def ask_sliders(link: Link, settings: RopeSettings) -> Sliders:
    """Two lengths and a position, those of the config unless the reader moved them."""
    trained, wanted = _lengths_of(settings)
    if explained := length_words(settings, trained):
        st.markdown(f":small[{explained}]")
    with slider_bar():
        trained = slider(link, "trained", TRAINED, trained, step=1, log=True)
        wanted = slider(link, "wanted", WANTED, wanted, step=1, log=True)
        position = slider(link, "position", POSITION, wanted, step=1, log=True)
    return Sliders(Lengths(trained, wanted, trained_is_given(settings)), position)


def length_words(settings: RopeSettings, trained: int) -> str:
    """What the sliders can't take from the config; "" where they take all of it."""
    sentences = []
    if not trained_is_given(settings):
        how = "a round number, no more"
        if settings.wanted_length is not None:
            how = "the length asked for divided by the factor"
        sentences.append(
            "The config doesn't say on how many tokens the model was trained: the slider begins at "
            f"{trained:,}, {how}."
        )
    longest = max(settings.trained_length or 0, settings.wanted_length or 0)
    if longest > MAX_DISTANCE:
        sentences.append(
            f"The config asks for {counted(longest, 'token')}; this page goes to {MAX_DISTANCE:,}."
        )
    return " ".join(sentences)


def _lengths_of(settings: RopeSettings, most: int = MAX_DISTANCE) -> tuple[int, int]:
    """The trained and the wanted length that a config stands for, or where sliders begin."""
    given = settings.trained_length
    if given is None:
        trained = _START
    elif trained_is_given(settings):
        trained = given
    else:
        trained = max(1, round(given / getattr(settings.encoding, "factor", 1.0)))
    trained = min(trained, most)
    wanted = min(settings.wanted_length or trained, most)
    if wanted <= trained and hasattr(settings.encoding, TRAINED_FIELD):
        # max_position_embeddings was left at the trained length; the factor says what is wanted.
        factor = getattr(settings.encoding, "factor", 1.0)
        wanted = min(round(trained * factor), most)
    return trained, wanted


def _config_text(link: Link, model: str) -> str | bytes:
    key = f"{PAGE}.config"
    own = link.read("config", CONFIG, "")
    if link.changed or key not in st.session_state:
        st.session_state[key] = _readable(own) if model == OWN else _model_text(model)
    st.caption("Edit it, paste another one, or open a file; an open file replaces the text.")
    file = st.file_uploader(
        "File", type="json", on_change=_use_own, key=f"{PAGE}.file", max_upload_size=8
    )
    typed = st.text_area("Text", key=key, height=340, on_change=_use_own)
    if model != OWN:
        return typed
    text = typed if file is None else file.getvalue()
    small = _compact(text)
    if len(small) <= CONFIG.most:
        link.keep("config", CONFIG, small, "")
    else:
        st.caption(f"Too long for the link ({len(small):,} characters): after a reload it is gone.")
    return text


def _use_own() -> None:
    """What is pasted or opened is no longer the model's own config."""
    st.session_state[f"{PAGE}.model"] = OWN


def _json_of_dict(text: str) -> str | None:
    try:
        read_config(text)
    except PythonDictError as error:
        return error.as_json
    except EncodingError:
        pass
    return None


def _use_json(as_json: str) -> None:
    st.session_state[f"{PAGE}.config"] = _readable(as_json)
    _use_own()


def _switch_model() -> None:
    """Another model comes with its own lengths; its config is the one to start editing from."""
    model = st.session_state[f"{PAGE}.model"]
    if model != OWN:
        open_link({"model": model})


def _model_text(model: str) -> str:
    return pretty(known_configs()[MODELS[model]])


def _readable(text: str) -> str:
    """The text of the link, laid out to be read where it is JSON."""
    try:
        return pretty(read_config(text))
    except EncodingError:
        return text


def _compact(text: str | bytes) -> str:
    """The config without spaces, for the link; whatever is no config stays as it is."""
    try:
        return json.dumps(read_config(text), separators=(",", ":"), ensure_ascii=False)
    except EncodingError:
        return text if isinstance(text, str) else ""
