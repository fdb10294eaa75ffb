"""A model's config.json: what its RoPE does to each pair, to scores, and in low precision."""

from __future__ import annotations

import streamlit as st

from pages._ui import live, long_context
from pages._ui.about import about
from pages._ui.bars import settings_bar
from pages._ui.controls import Link
from pages._ui.takeaway import remember


def main() -> None:
    """Ask for a config, say what is odd about it and what its layers do, then draw."""
    link = Link(long_context.PAGE)
    place_of_question = st.container()
    with settings_bar():
        model, reading = long_context.choose_config(link)
        group = long_context.choose_layers(link, reading)
        settings = None if group is None else group.settings
        quantity, arithmetic = long_context.choose_pictures(link, settings)
        place_of_tools = st.container(width="content")
    link.note_unknown(*long_context.SLIDERS)
    link.show_notices()
    place_of_question.markdown(f"### {long_context.question(reading, group)}")
    long_context.draw_config(reading, group)
    if group is None or settings is None:
        link.write()
        if group is not None:
            with place_of_tools:
                long_context.tools_without_rotation(reading, group)
        return
    chosen = long_context.Chosen(model, reading, group, quantity, arithmetic)
    pictures(link, chosen)
    with place_of_tools:
        long_context.rope_tools(chosen)
    about([type(chosen.encoding).slug])


@st.fragment
def pictures(link: Link, chosen: long_context.Chosen) -> None:
    """The live sliders and all that follows from them."""
    sliders = long_context.ask_sliders(link, chosen.settings)
    long_context.draw(chosen, sliders)
    link.show_notices()
    remember(long_context.PAGE, sliders=sliders)
    keys = (f"{long_context.PAGE}.{name}" for name in long_context.SLIDERS)
    if not any(map(live.slider.is_dragging, keys)):
        link.write()


main()
