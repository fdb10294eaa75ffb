"""Three doors into attention: one sentence, the same weights, several encodings side by side."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui.about import about
from pages._ui.attention.arithmetic import products_table, softmax_table, weight_arithmetic
from pages._ui.attention.distance import FARTHEST, claims
from pages._ui.attention.inputs import (
    MOST_TOKENS,
    Scene,
    attention,
    explained,
    inputs,
    shuffled,
    split,
)
from pages._ui.attention.pictures import (
    FOUR_ALT,
    FOURS,
    SHIFT_ALT,
    SHIFTS,
    four_chart,
    shift_chart,
    show_distance,
    show_shuffle,
    show_weights,
)
from pages._ui.attention.settings import (
    CAUSAL,
    CELL,
    COMPARED,
    EXAMPLE,
    HEAD,
    LATER,
    PAGE,
    SCALE,
    SEED,
    SENTENCE,
    SHIFT,
    SHUFFLE,
    SQRT_DIM,
    TEMPERATURE,
    Chosen,
    choose_source,
    column_or_why,
    fields_of,
    finish,
    menu,
    say,
)
from pages._ui.attention.takeaway import (
    distance_shown,
    four_shown,
    shift_or_why,
    shift_shown,
    shuffle_shown,
    weights_shown,
)
from pages._ui.attention.words import (
    FOUR,
    claims_table,
    distance_said,
    four_said,
    how_it_came_about,
    shift_said,
    shift_table,
    shuffle_said,
    shuffle_table,
)
from pages._ui.controls import Link, Several, choose_in_order, choose_view, setting, slider
from pages._ui.takeaway import remember, show, tools
from posembed_core import AdditiveEncoding, CheckpointError, EncodingError
from posembed_core.parameters import Choice
from posembed_core.tables.position_table import PositionTable


def main() -> None:
    """Ask, then show one view."""
    link = Link(PAGE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = choose_view(link, {name: title for name, (title, *_) in VIEWS.items()})
        head = setting(link, "head", HEAD, 4, width=130) - 1
        causal = setting(link, "causal", CAUSAL, False)
        settings = st.popover("Settings")
        place = st.container(width="content")  # for what is on the screen as code and files
    with settings:
        real = choose_source(link)
        sqrt_dim = setting(link, "sqrt_dim", SQRT_DIM, True)
        seed = 123 if real else setting(link, "seed", SEED, 123)
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        text = setting(link, "text", SENTENCE, EXAMPLE)
    with right, st.container(horizontal=True):
        titles = menu(real)
        parameter = Several("Encodings", options=tuple(titles))
        slugs = choose_in_order(link, "encodings", parameter, COMPARED, titles)
    with settings:
        fields = {slug: fields_of(link, slug, titles[slug]) for slug in slugs}
    link.note_unknown(*LATER)
    link.show_notices()
    try:
        scene = Scene(real, text, seed, sqrt_dim)
        there = inputs(scene)
    except (CheckpointError, EncodingError) as error:
        say(error)
        finish(link)
        return
    if there.left_out:
        st.info(f"The first {MOST_TOKENS} tokens are shown, {there.left_out} are left out.")
    made = {slug: column_or_why(slug, fields[slug], there) for slug in slugs}
    kept = {slug: encoding for slug, encoding in made.items() if encoding is not None}
    if kept:
        names = tuple(titles[slug] for slug in kept)
        columns = tuple(kept.values())
        _, draw, shown = VIEWS[view]
        chosen = Chosen(scene, there, tuple(kept), names, columns, head, causal)
        draw(link, chosen)
        with place:
            tools(PAGE, lambda: shown(chosen))
    else:
        finish(link)
    about([*slugs, PositionTable.slug] if real else slugs)


@st.fragment
def weights(link: Link, chosen: Chosen) -> None:
    """Scores and weights side by side, and a clicked weight's arithmetic."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scale = slider(link, "scale", SCALE, 1.0, step=0.01)
        temperature = slider(link, "temperature", TEMPERATURE, 1.0, step=0.05, log=True)
    found = [
        attention(chosen.scene, encoding, chosen.head, scale, chosen.causal, temperature)
        for encoding in chosen.encodings
    ]
    words = chosen.there.tokens
    click = show_weights(found, chosen.titles, words, f"{PAGE}.weights")
    key = f"{PAGE}.cell"
    if link.changed:
        st.session_state[key] = link.read("cell", CELL, ())
    if click is not None:
        st.session_state[key] = (click.column, click.query, click.key)
    cell = st.session_state.get(key, ())
    n = len(words)
    pairs = list(zip(chosen.titles, chosen.encodings, strict=True))
    head_dim = chosen.there.projections.head_dim
    said = how_it_came_about(pairs, head_dim, chosen.head, chosen.causal)
    if len(cell) == 3 and cell[0] < len(pairs) and cell[1] < n and cell[2] < n:
        link.keep("cell", CELL, cell, ())
        explain(chosen, cell, scale, temperature)
    st.markdown(f":small[{said}]")
    query = cell[1] if len(cell) == 3 and cell[1] < n else 0
    remember(PAGE, scale=scale, temperature=temperature, query=query)
    finish(link, "scale", "temperature", "cell")


def explain(chosen: Chosen, cell: Sequence[int], scale: float, temperature: float) -> None:
    """The whole arithmetic of one weight."""
    which, query, key = cell
    encoding, words = chosen.encodings[which], chosen.there.tokens
    place = (chosen.head, query, key)
    step = explained(chosen.scene, encoding, place, scale, chosen.causal, temperature)
    st.markdown(weight_arithmetic(step, chosen.titles[which], encoding, chosen.there))
    with st.container(horizontal=True):
        with st.popover("All products of q and k"):
            st.markdown(products_table(step))
        with st.popover("The whole row of the softmax"):
            st.markdown(softmax_table(step, words))


@st.fragment
def shuffle(link: Link, chosen: Chosen) -> None:
    """The same layer on shuffled words."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = setting(link, "shuffle", SHUFFLE, 1, width=180)
        scale = slider(link, "scale", SCALE, 1.0, step=0.01)
    plain, masked = (
        [
            shuffled(chosen.scene, encoding, seed, scale, causal, 1.0)
            for encoding in chosen.encodings
        ]
        for causal in (False, True)
    )
    words = chosen.there.tokens
    show_shuffle(plain, masked, chosen.titles, words)
    st.markdown(shuffle_table(chosen.titles, plain, masked))
    st.markdown(shuffle_said(chosen.titles, plain, masked))
    remember(PAGE, scale=scale, shuffle=seed)
    finish(link, "scale", "shuffle")


@st.fragment
def shift(link: Link, chosen: Chosen) -> None:
    """The same words, all positions moved."""
    with st.container(horizontal=True):
        by = slider(link, "shift", SHIFT, 100, step=1)
        scale = slider(link, "scale", SCALE, 1.0, step=0.01)
    tests = [shift_or_why(chosen, encoding, by, scale) for encoding in chosen.encodings]
    chart = shift_chart(tests, chosen.titles, chosen.there.tokens, chosen.head)
    show(chart, SHIFTS, SHIFT_ALT)
    st.markdown(shift_table(chosen.titles, tests))
    st.markdown(f":small[{shift_said(by, len(chosen.there.tokens), chosen.head)}]")
    remember(PAGE, scale=scale, shift=by)
    finish(link, "shift", "scale")


@st.fragment
def four(link: Link, chosen: Chosen) -> None:
    """The scores of one additive encoding as a sum of four."""
    titles = dict(zip(chosen.slugs, chosen.titles, strict=True))
    columns = dict(zip(chosen.slugs, chosen.encodings, strict=True))
    additive = [slug for slug, one in columns.items() if isinstance(one, AdditiveEncoding)]
    if not additive:
        st.info("Only a vector that is added to the input splits the scores: choose such a one.")
        finish(link)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parameter = Choice("Scores of", options=tuple(additive))
        of = setting(link, "of", parameter, additive[-1], format_func=titles.get, width=220)
        scale = slider(link, "scale", SCALE, 1.0, step=0.01)
    terms = split(chosen.scene, columns[of], scale)
    show(four_chart(terms, FOUR, chosen.there.tokens, chosen.head), FOURS, FOUR_ALT)
    has_norm = chosen.there.layer_norm is not None
    st.markdown(four_said(titles[of], terms, chosen.head, has_norm))
    remember(PAGE, scale=scale, of=of)
    finish(link, "scale", "of")


def distance(link: Link, chosen: Chosen) -> None:
    """Score against distance: what is claimed, what is computed."""
    show_distance(chosen.encodings, chosen.titles, chosen.head)
    st.markdown(f":small[{distance_said(FARTHEST, chosen.head)}]")
    found = [claims(encoding, chosen.head) for encoding in chosen.encodings]
    st.markdown(claims_table(chosen.titles, found))
    finish(link)


VIEWS = {
    "weights": ("Weights", weights, weights_shown),
    "shuffle": ("Shuffle test", shuffle, shuffle_shown),
    "shift": ("Shift test", shift, shift_shown),
    "four": ("Four terms", four, four_shown),
    "distance": ("Distance", distance, distance_shown),
}

main()
