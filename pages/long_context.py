"""A model's config.json: what its RoPE does to each pair, to scores, and in low precision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages._ui import live
from pages._ui.about import about
from pages._ui.controls.controls import Text, setting, slider
from pages._ui.controls.link import Link, open_link
from pages._ui.figures.rope_pairs import QUANTITIES
from pages._ui.figures.two_pictures import Lengths
from pages._ui.long_context.pictures import CELLS, packed_pairs, packed_scores
from pages._ui.long_context.takeaway import PAGE, Taken, report_popover
from pages._ui.long_context.words import (
    collisions,
    drift,
    finding_text,
    pairs_alt,
    pairs_key,
    pretty,
    scores_alt,
    scores_key,
    settings_line,
    worst_table,
)
from pages._ui.takeaway.view import remember, remembered, tools
from posembed_core import EncodingError
from posembed_core.long_context.pairs import MAX_DISTANCE, distance_edges, pair_table
from posembed_core.long_context.precision import ARITHMETICS, worst_pair
from posembed_core.long_context.report import summary
from posembed_core.model_config import (
    Finding,
    RopeSettings,
    known_configs,
    read_config,
    read_rope,
)
from posembed_core.parameters import Choice, Integer

OWN = "own"
MODELS = {name.lower().replace(" ", "-"): name for name in known_configs()} | {OWN: "Your config"}
MODEL = Choice("Config", options=tuple(MODELS))
CONFIG = Text("Config", most=4000)
QUANTITY = Choice("Left picture", options=QUANTITIES)
ARITHMETIC = Choice("Precision", options=tuple(ARITHMETICS))
TRAINED = Integer("Trained length", low=1, high=MAX_DISTANCE, help="Tokens seen before scaling")
WANTED = Integer("Wanted length", low=1, high=MAX_DISTANCE, help="Tokens of the whole sequence")
POSITION = Integer("Position", low=1, high=MAX_DISTANCE, help="Where angles are shown")
TRAINED_FIELD = "original_max_position_embeddings"


def main() -> None:
    """Ask for a config, say what is odd about it, then draw."""
    link = Link(PAGE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = setting(
            link, "model", MODEL, "llama-3.1-8b", format_func=MODELS.get, on_change=switch_model
        )
        with st.popover("config.json"):
            text = config_text(link, model)
        layers = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        quantity = setting(link, "quantity", QUANTITY, QUANTITIES[0], width=150)
        arithmetic = setting(
            link,
            "precision",
            ARITHMETIC,
            "float32",
            format_func=lambda name: ARITHMETICS[name].title,
        )
        place_of_tools = st.container(width="content")
    name = MODELS[model] if model != OWN else "your config"
    settings, found = understood(text)
    with layers:
        chosen = choose_layers(link, settings)
        if chosen is not None:
            with st.popover("Formula"):
                st.markdown(f"${chosen.encoding.formula}$")
                st.caption(chosen.encoding.reference)
    link.note_unknown("trained", "wanted", "position")
    link.show_notices()
    for finding in found:
        (st.error if finding.severity == "error" else st.warning)(finding_text(finding))
    if chosen is None:
        link.write()
    else:
        pictures(link, chosen, quantity, arithmetic)
        settings_now = chosen

        def taken() -> Taken:
            trained, wanted, position = remembered(PAGE)["sliders"]
            lengths = Lengths(trained, wanted)
            return Taken(name, settings_now, found, lengths, position, quantity, arithmetic)

        with place_of_tools:
            tools(PAGE, taken, others=lambda: report_popover(taken))
        about([type(chosen.encoding).slug])


def config_text(link: Link, model: str) -> str | bytes:
    """The config in effect, to read, edit, paste or upload."""
    key = f"{PAGE}.config"
    own = link.read("config", CONFIG, "")
    if link.changed or key not in st.session_state:
        st.session_state[key] = readable(own) if model == OWN else model_text(model)
    st.caption("Edit it, paste another one, or open a file; a file counts before the text.")
    file = st.file_uploader(
        "File", type="json", on_change=use_own, key=f"{PAGE}.file", max_upload_size=1
    )
    typed = st.text_area("Text", key=key, height=340, on_change=use_own)
    if model != OWN:
        return typed
    text = typed if file is None else file.getvalue()
    small = compact(text)
    if len(small) <= CONFIG.most:
        link.keep("config", CONFIG, small, "")
    else:
        st.caption(f"Too long for the link ({len(small):,} characters): a reload forgets it.")
    return text


def use_own() -> None:
    """What is pasted or opened is no longer the model's own config."""
    st.session_state[f"{PAGE}.model"] = OWN


def switch_model() -> None:
    """Another model comes with its own lengths; its config is the one to start editing from."""
    model = st.session_state[f"{PAGE}.model"]
    if model != OWN:
        open_link({"model": model})


def model_text(model: str) -> str:
    """A well-known model's config as text."""
    return pretty(known_configs()[MODELS[model]])


def readable(text: str) -> str:
    """The text of the link, laid out to be read where it is JSON."""
    try:
        return pretty(read_config(text))
    except EncodingError:
        return text


def compact(text: str | bytes) -> str:
    """The config without spaces, for the link; whatever is no config stays as it is."""
    try:
        return json.dumps(read_config(text), separators=(",", ":"), ensure_ascii=False)
    except EncodingError:
        return text if isinstance(text, str) else ""


@st.cache_data(max_entries=64, show_spinner=False)
def understood(text: str | bytes) -> tuple[Sequence[RopeSettings], Sequence[Finding]]:
    """The settings of each kind of layer (none where there is an error), and all findings."""
    try:
        config = read_config(text)
    except EncodingError as error:
        reason = "The settings are read from the text of a config.json."
        return (), (Finding("error", "", f"{str(error)[0].upper()}{str(error)[1:]}.", reason),)
    reading = read_rope(config)
    return reading.settings, reading.findings


def choose_layers(link: Link, settings: Sequence[RopeSettings]) -> RopeSettings | None:
    """The settings of the kind of layers to show; None where there are none."""
    kinds = {one.layer_type: one for one in settings}
    if len(kinds) < 2:
        return next(iter(kinds.values()), None)
    parameter = Choice("Layers", options=tuple(kinds))
    return kinds[setting(link, "layers", parameter, parameter.options[0], width=170)]


@st.fragment
def pictures(link: Link, settings: RopeSettings, quantity: str, arithmetic: str) -> None:
    """The live sliders and all that follows from them."""
    lengths, position = ask_lengths(link, settings)
    encoding, rounding = settings.encoding, ARITHMETICS[arithmetic]
    table = pair_table(encoding, lengths.wanted)
    said = summary(table, lengths.trained, lengths.wanted)
    st.markdown(settings_line(settings, lengths.wanted))
    live.plot(
        packed_pairs(encoding, lengths.trained, lengths.wanted, position, quantity),
        key=f"{PAGE}.pairs",
        alt=pairs_alt(table, said),
    )
    st.markdown(f":small[{said} {pairs_key(position)}]")
    live.plot(
        packed_scores(encoding, lengths.trained, lengths.wanted, arithmetic),
        key=f"{PAGE}.scores",
        alt=scores_alt(rounding),
    )
    st.markdown(f":small[{scores_key(distance_edges(MAX_DISTANCE, CELLS))}]")
    st.markdown(f"{collisions(lengths.wanted, rounding)} {drift(table, rounding)}")
    st.markdown(worst_table(worst_pair(table.after, position, rounding), rounding))
    link.show_notices()
    remember(PAGE, sliders=(lengths.trained, lengths.wanted, position))
    if not any(live.is_dragging(f"{PAGE}.{what}") for what in ("trained", "wanted", "position")):
        link.write()


def ask_lengths(link: Link, settings: RopeSettings) -> tuple[Lengths, int]:
    """The two lengths and the position, from the config unless the reader moved them."""
    trained_default = min(settings.trained_length or 4096, MAX_DISTANCE)
    wanted_default = min(settings.wanted_length or trained_default, MAX_DISTANCE)
    if wanted_default <= trained_default and hasattr(settings.encoding, TRAINED_FIELD):
        # max_position_embeddings was left at the trained length; the factor says what is wanted.
        factor = getattr(settings.encoding, "factor", 1.0)
        wanted_default = min(round(trained_default * factor), MAX_DISTANCE)
    columns = st.columns(3)
    options: dict[str, Any] = {"step": 1, "log": True}
    with columns[0]:
        trained = slider(link, "trained", TRAINED, trained_default, **options)
    with columns[1]:
        wanted = slider(link, "wanted", WANTED, wanted_default, **options)
    with columns[2]:
        position = slider(link, "position", POSITION, wanted, **options)
    return Lengths(trained, wanted), position


main()
