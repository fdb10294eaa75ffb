"""The layers of a model as a strip, and what a model without RoPE has instead."""

from __future__ import annotations

import streamlit as st

from pages._ui import live
from pages._ui.escaped import in_markdown
from pages._ui.long_context.reading import Group, Reading
from pages._ui.numbers import written
from pages._ui.sentences import counted
from pages._ui.site import PAGES
from posembed_core import RotaryEncoding
from posembed_core.model_config.has import Position
from posembed_core.model_config.layer_kinds import CHUNKED

# The page that shows what a model has instead, its settings there, and the words of the link.
_FILES = {page.path: page.file for page in PAGES}
_TITLES = {page.path: page.title for page in PAGES}
_INSTEAD = {
    "learned": ("table", {}, "a learned table, from noise through training"),
    "fixed": ("combine", {"encoding": "sinusoidal"}, "sinusoids, added to the input"),
    "alibi": ("combine", {"encoding": "alibi"}, "ALiBi, a bias on every score"),
    "buckets": ("combine", {"encoding": "t5"}, "T5's buckets, a bias on every score"),
    "offsets": ("combine", {"encoding": "t5"}, "the same idea along one axis: T5's buckets"),
    "relative": ("combine", {"encoding": "deberta"}, "DeBERTa's vectors for relative positions"),
    "axes": ("combine", {"encoding": "rope"}, "the same rotation along one axis"),
    "nothing": ("combine", {"encoding": "none"}, "what is left without any position"),
}


def draw_strip(reading: Reading, shown: Group, key: str) -> None:
    """One cell a layer and one line a kind; a click puts the kind into the widget ``key``."""
    count = sum(len(group.layers) for group in reading.groups)
    if count < 2 or reading.position is None or reading.position.has is None:
        return
    otherwise = _otherwise(reading.position)
    cells = [0] * count
    for kind, group in enumerate(reading.groups):
        for layer in group.layers:
            cells[layer.index] = kind

    def pick(kind: int) -> None:
        st.session_state[key] = reading.groups[kind].name

    live.strip.kinds_strip(
        "Kinds of layers",
        [live.strip.Kind(group_words(group, otherwise), looks(group)) for group in reading.groups],
        cells,
        reading.groups.index(shown),
        key=f"{key}.strip",
        on_pick=pick,
    )
    if not reading.counts_layers:
        st.markdown(
            f":small[The config doesn't say how many layers there are: {count} is transformers' "
            "default for this type.]"
        )


def looks(group: Group) -> tuple[live.strip.Look, ...]:
    """How cells of a group look: what turns is filled, what is scaled is striped."""
    encoding = group.example.encoding
    looks: list[live.strip.Look] = []
    if isinstance(encoding, RotaryEncoding):
        looks.append("turns")
        if encoding.slug != "rope":
            looks.append("scaled")
    elif encoding is not None:
        looks.append("biased")
    if group.example.window:
        looks.append("window")
    return tuple(looks)


def _otherwise(position: Position) -> str:
    """What position does in a layer for which no encoding is computed."""
    match position.has:
        case "rotation":
            return "no rotation"
        case "learned" | "fixed":
            return "no position of their own: the table is added before the first layer"
        case "nothing":
            return "no position"
        case _:
            return position.phrase


def group_words(group: Group, otherwise: str) -> str:
    """A kind of layers in one line of plain text: how many, their kind, what position does there.

    ``otherwise`` is said of layers for which no encoding is computed.
    """
    layer, encoding = group.example, group.example.encoding
    parts = [f"{counted(len(group.layers), 'layer')} of {layer.kind.replace('_', ' ')}"]
    if layer.window:
        size = counted(layer.window, "token")
        parts.append(f"chunks of {size}" if layer.kind == CHUNKED else f"a window of {size}")
    if isinstance(encoding, RotaryEncoding):
        halves = encoding.pairing == "half"
        parts += [
            encoding.title,
            f"base {encoding.base:,.10g}",
            f"{encoding.rotary_dim} of {encoding.head_dim} dimensions turn",
            "paired by halves" if halves else "paired as neighbours",
        ]
    elif encoding is not None:
        parts.append(encoding.title)
    else:
        parts.append(otherwise)
    if layer.queries.kind:
        parts.append("queries scaled by position")
    if layer.score_scale != 1:
        parts.append(f"scores × {written(layer.score_scale, '.6g')}")
    return "; ".join(parts)


def say_what_it_has(reading: Reading) -> None:
    """Of a model without RoPE: what it has, how that is known, and the page that shows it."""
    if reading.model is None or reading.position is None:
        return
    st.markdown(in_markdown(reading.model.has))
    added = reading.model.input
    if added is not None:
        rows = (
            "a number of rows that the config doesn't give"
            if added.rows is None
            else (counted(added.rows, "row"))
        )
        st.markdown(f"The table has {rows}. The config has its size at most, never its values.")
    if reading.position.has in _INSTEAD:
        path, settings, thing = _INSTEAD[reading.position.has]
        label = f"*{_TITLES[path]}*: {thing}"
        st.page_link(
            _FILES[path], label=label, icon=":material/arrow_forward:", query_params=settings
        )
