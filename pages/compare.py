"""Every encoding on one setting: pictures side by side, and one table to project."""

from __future__ import annotations

from typing import cast

import streamlit as st

from pages._ui import live
from pages._ui.about import about
from pages._ui.compare.facts import NUM_HEADS, SAID, VIEWS, facts_table, packed, short_title
from pages._ui.compare.takeaway import PAGE, Taken
from pages._ui.controls import Link, Several, choose_several, choose_view, setting
from pages._ui.takeaway import tools
from posembed_core import encodings
from posembed_core.parameters import Choice, Integer
from posembed_core.scripts.compare import CompareView

LENGTH = Choice("Length", options=("16", "32", "64", "128", "256"))
DIMENSION = Choice("Dimension", options=("16", "32", "64", "128", "256"))
HEAD = Integer("Head shown", low=1, high=NUM_HEADS, help="Of the encodings that act in the scores")


def main() -> None:
    """Ask, draw, tell."""
    link = Link(PAGE)
    titles = {slug: short_title(slug) for slug in encodings()}
    every = tuple(titles)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = choose_view(link, VIEWS)
        length = int(setting(link, "length", LENGTH, "64", width=110))
        dimension = int(setting(link, "dimension", DIMENSION, "64", width=110))
        head = setting(link, "head", HEAD, 2, width=140) - 1
        with st.popover("Encodings"):
            parameter = Several("Shown, in this order", options=every, most=len(every))
            slugs = choose_several(link, "encodings", parameter, every, titles)
        place_of_tools = st.container(width="content")
    link.note_unknown()
    link.show_notices()
    live.plot(
        packed(slugs, view, length, dimension, head),
        key=f"{PAGE}.{view}",
        alt=f"{VIEWS[view]} of {', '.join(titles[slug] for slug in slugs)}.",
    )
    st.markdown(f":small[{SAID[view]}]")
    st.markdown(facts_table(slugs, length, dimension))
    st.markdown(
        f":small[{length} positions, {dimension} dimensions, {NUM_HEADS} heads. Learned numbers: "
        "those of this setting, of one head where heads have their own. *Defined*: there is a "
        "value, but nothing in training prepared the model for it. Norms are means over positions.]"
    )
    about(slugs)
    link.write()
    with place_of_tools:
        taken = Taken(slugs, cast(CompareView, view), length, dimension, head)
        tools(PAGE, lambda: taken)


main()
