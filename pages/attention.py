"""Three doors into attention: one sentence, the same weights, several encodings side by side."""

from __future__ import annotations

import streamlit as st

from pages._ui import attention
from pages._ui.about import about
from pages._ui.bars import settings_bar
from pages._ui.controls import Link, choose_view
from pages._ui.takeaway import tools
from posembed_core import PositionTable


def main() -> None:
    """Ask, then show one view."""
    link = Link(attention.PAGE, attention.shared)
    with settings_bar():
        views = {name: view.title for name, view in attention.VIEWS.items()}
        view = attention.VIEWS[choose_view(link, views)]
        link.put_away(*view.idle)
        head, causal = attention.choose_head(link)
        settings = st.popover("Settings")
        place_of_tools = st.container(width="content")
    left = right = st.container()
    if not link.hides("text"):
        with settings_bar("second"):
            left, right = st.columns([2, 3], vertical_alignment="bottom")
    scene = attention.choose_scene(link, settings, left)
    fields = attention.choose_encodings(link, settings, right, real=scene.real)
    link.note_unknown(*attention.OF_VIEWS)
    link.show_notices()
    chosen = attention.chosen_or_why(scene, fields, head, causal)
    if chosen is None:
        attention.finish(link)
        return
    if chosen.encodings:
        view.draw(link, chosen)
        with place_of_tools:
            tools(attention.PAGE, lambda: view.shown(chosen))
    else:
        attention.finish(link)
    about([*fields, PositionTable.slug] if scene.real else fields)


main()
