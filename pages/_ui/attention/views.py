"""The views of the attention page: what each asks, draws and says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from pages._ui.attention.arithmetic import products_table, softmax_table, weight_arithmetic
from pages._ui.attention.distance import FARTHEST, claims
from pages._ui.attention.inputs import (
    attention,
    explained,
    seed_after,
    shifted_or_why,
    shuffled,
    split,
)
from pages._ui.attention.pictures import (
    COLUMNS,
    FOUR_ALT,
    FOURS,
    SHIFT_ALT,
    SHIFTS,
    columns_alt,
    columns_chart,
    four_chart,
    shift_chart,
    show_distance,
    show_shuffle,
    show_weights,
)
from pages._ui.attention.settings import OF_VIEWS, PAGE, Chosen, finish
from pages._ui.attention.takeaway import (
    distance_shown,
    four_shown,
    shift_shown,
    shuffle_shown,
    weights_shown,
)
from pages._ui.attention.words import (
    FOUR,
    claims_table,
    columns_said,
    distance_said,
    four_said,
    how_it_came_about,
    projected_said,
    shift_said,
    shift_table,
    shuffle_said,
    shuffle_table,
)
from pages._ui.bars import slider_bar
from pages._ui.controls import Link, setting, slider
from pages._ui.takeaway import OnScreen, remember, show
from posembed_core import AdditiveEncoding, encodings
from posembed_core.parameters import Choice


class AttentionView(NamedTuple):
    """What a view's button says, what draws it, and what it gives away.

    ``idle`` are the settings of the page that change nothing in it.
    """

    title: str
    draw: Callable[[Link, Chosen], None]
    shown: Callable[[Chosen], OnScreen | None]
    idle: tuple[str, ...] = ()


@st.fragment
def weights(link: Link, chosen: Chosen) -> None:
    """Weights, their differences and scores, and a clicked weight's arithmetic."""
    with slider_bar():
        scale = _scale(link)
        temperature = slider(link, "temperature", *OF_VIEWS["temperature"], step=0.05, log=True)
    heads = [
        attention(chosen.scene, encoding, chosen.head, scale, chosen.causal, temperature)
        for encoding in chosen.encodings
    ]
    words = chosen.inputs.tokens
    click = show_weights(heads, chosen.titles, words, f"{PAGE}.weights")
    clicked = None if click is None else (click.column, click.query, click.key)
    cell = _cell(link, clicked)
    query = cell[1] if len(cell) == 3 and cell[1] < len(words) else 0
    if len(cell) == 3 and cell[0] < len(heads) and max(cell[1:]) < len(words):
        link.keep("cell", OF_VIEWS["cell"][0], cell, ())
        _explain(chosen, cell, scale, temperature)
    st.markdown(f":small[{how_it_came_about(chosen)}]")
    remember(PAGE, scale=scale, temperature=temperature, query=query)
    finish(link, "scale", "temperature", "cell")


@st.fragment
def shuffle(link: Link, chosen: Chosen) -> None:
    """The same layer on shuffled words."""
    with slider_bar():
        seed = _shuffle(link, chosen)
        scale = _scale(link)
    plain, masked = (
        [
            shuffled(chosen.scene, encoding, seed, scale, causal, 1.0)
            for encoding in chosen.encodings
        ]
        for causal in (False, True)
    )
    titles, words, head = chosen.titles, chosen.inputs.tokens, chosen.head
    show(columns_chart(plain, titles, words, head), COLUMNS, columns_alt(plain, words, head))
    st.markdown(shuffle_said(titles, plain, masked, scale, head, chosen.inputs.stays))
    st.markdown(f":small[{columns_said(titles, head, plain[0].before.shape[2])}]")
    st.markdown(shuffle_table(titles, plain, masked))
    show_shuffle(plain, masked, titles, words)
    remember(PAGE, scale=scale, shuffle=seed)
    finish(link, "scale", "shuffle")


@st.fragment
def shift(link: Link, chosen: Chosen) -> None:
    """The same words, all positions moved."""
    with slider_bar():
        by = slider(link, "shift", *OF_VIEWS["shift"], step=1)
        scale = _scale(link)
    tests = [shifted_or_why(chosen.scene, encoding, by, scale) for encoding in chosen.encodings]
    words = chosen.inputs.tokens
    show(shift_chart(tests, chosen.titles, words, chosen.head), SHIFTS, SHIFT_ALT)
    st.markdown(shift_table(chosen.titles, tests, by, scale))
    st.markdown(f":small[{shift_said(by, len(words), chosen.head)}]")
    remember(PAGE, scale=scale, shift=by)
    finish(link, "shift", "scale")


@st.fragment
def four(link: Link, chosen: Chosen) -> None:
    """The scores of one additive encoding as a sum of four."""
    additive = chosen.additive
    if not additive:
        st.info(
            "Scores split into four terms only where a vector is added to the input: choose such "
            "an encoding."
        )
        finish(link)
        return
    with slider_bar():
        titles = {slug: title for slug, (title, _) in additive.items()}
        parameter = Choice("Scores of", options=tuple(titles))
        last = parameter.options[-1]
        of = setting(link, "of", parameter, last, format_func=titles.get, width=220)
        scale = _scale(link)
        removed = slider(link, "removed", *OF_VIEWS["removed"], step=0.01)
    title, encoding = additive[of]
    whole, terms = (split(chosen.scene, encoding, scale, part) for part in (0.0, removed))
    show(four_chart(terms, FOUR, chosen.inputs.tokens, chosen.head, whole), FOURS, FOUR_ALT)
    has_norm = chosen.inputs.layer_norm is not None
    st.markdown(four_said(title, terms, chosen.head, has_norm))
    st.markdown(projected_said(whole, terms, removed, chosen.inputs.projections.embed_dim))
    remember(PAGE, scale=scale, of=of, removed=removed)
    finish(link, "scale", "of", "removed")


def distance(link: Link, chosen: Chosen) -> None:
    """Score against distance: what is claimed, what is computed."""
    show_distance(chosen.encodings, chosen.titles, chosen.head)
    st.markdown(f":small[{distance_said(FARTHEST, chosen.head)}]")
    claimed = [claims(encoding, chosen.head) for encoding in chosen.encodings]
    st.markdown(claims_table(chosen.titles, claimed))
    finish(link)


# Turns, biases and vectors for keys are no part of the four terms.
_NOT_ADDED = tuple(
    f"{slug}.{name}"
    for slug, cls in encodings().items()
    if not issubclass(cls, AdditiveEncoding)
    for name in cls.parameters()
)

VIEWS = {
    "weights": AttentionView("Weights", weights, weights_shown),
    "shuffle": AttentionView("Shuffle test", shuffle, shuffle_shown, ("causal",)),
    "shift": AttentionView("Shift test", shift, shift_shown, ("causal",)),
    "four": AttentionView("Four terms", four, four_shown, ("causal", *_NOT_ADDED)),
    "distance": AttentionView(
        "Distance", distance, distance_shown, ("causal", "text", "tokens", "seed", "sqrt_dim")
    ),
}


def _scale(link: Link) -> float:
    scale: float = slider(link, "scale", *OF_VIEWS["scale"], step=0.01)
    return scale


def _shuffle(link: Link, chosen: Chosen) -> int:
    """The seed of the shuffle; the button draws the next one that makes another text."""
    parameter, default = OF_VIEWS["shuffle"]
    key = f"{PAGE}.shuffle.seed"
    if link.changed or key not in st.session_state:
        st.session_state[key] = link.read("shuffle", parameter, default)
    following = seed_after(chosen.scene, st.session_state[key])
    is_stuck = following is None
    if not link.hides("shuffle") and st.button(
        "Shuffle",
        type="primary",
        width=220,
        key=f"{PAGE}.shuffle",
        disabled=is_stuck or link.locks("shuffle"),
        help="There is no other order to test" if is_stuck else None,
    ):
        st.session_state[key] = following
    seed: int = st.session_state[key]
    link.keep("shuffle", parameter, seed, default)
    return seed


def _cell(link: Link, clicked: tuple[int, ...] | None) -> tuple[int, ...]:
    """The cell to explain: the one just clicked, else the last one, else the link's; () for none.

    It may lie outside of what is shown now, if there are fewer words or columns than there were.
    """
    key = f"{PAGE}.cell"
    if link.changed:
        st.session_state[key] = link.read("cell", *OF_VIEWS["cell"])
    if clicked is not None:
        st.session_state[key] = clicked
    cell: tuple[int, ...] = st.session_state.get(key, ())
    return cell


def _explain(chosen: Chosen, cell: Sequence[int], scale: float, temperature: float) -> None:
    """The whole arithmetic of one weight."""
    column, query, key = cell
    encoding, words = chosen.encodings[column], chosen.inputs.tokens
    place = (chosen.head, query, key)
    step = explained(chosen.scene, encoding, place, scale, chosen.causal, temperature)
    st.markdown(weight_arithmetic(step, chosen.titles[column], encoding, chosen.inputs))
    with st.container(horizontal=True):
        with st.popover("All products of q and k"):
            st.markdown(products_table(step))
        with st.popover("The whole row of the softmax"):
            st.markdown(softmax_table(step, words))
