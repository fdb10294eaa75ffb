"""The landing page: h = e + s·p, its three pictures and their norms, live."""

from __future__ import annotations

import streamlit as st

from pages._ui import combine, live
from pages._ui.about import about
from pages._ui.bars import settings_bar
from pages._ui.controls import Link
from pages._ui.sentences import sentence
from pages._ui.server.pictures import picture
from pages._ui.takeaway import remember, remembered, tools
from posembed_core import CheckpointError, EncodingError


def main() -> None:
    """Ask, then draw."""
    link = Link(combine.PAGE, combine.shared)
    with settings_bar():
        headline = st.container(width=230)
        chosen = combine.choose(link)
        place_of_tools = st.container(width="content")
    equation = combine.equation(chosen.family, chosen.operation, chosen.layer_norm, chosen.sqrt_dim)
    headline.markdown(f"### {equation}")
    chosen = combine.type_sentence(link, chosen)
    link.note_unknown(*combine.SLIDERS, "fit", "cell", "zoom")
    link.show_notices()
    if chosen.problem:
        st.info(chosen.problem)
        link.carry(*combine.SLIDERS)
        link.write()
    else:
        pictures(link, chosen)
        with place_of_tools:
            tools(combine.PAGE, lambda: combine.combination_shown(**remembered(combine.PAGE)))
    about([chosen.slug])


@st.fragment
def pictures(link: Link, chosen: combine.Chosen) -> None:
    """The live sliders and what follows them: the figure, the numbers, a cell's arithmetic."""
    length, dimension, scale = combine.choose_sizes(link, chosen)
    link.show_notices()
    remember(combine.PAGE)
    try:
        draw(link, chosen, length, dimension, scale)
    except (EncodingError, CheckpointError) as error:
        st.error(sentence(error))
    link.show_notices()
    if not any(live.slider.is_dragging(f"{combine.PAGE}.{name}") for name in combine.SLIDERS):
        link.write()


def draw(link: Link, chosen: combine.Chosen, length: int, dimension: int, scale: float) -> None:
    """Compute the pictures at these sizes and show them."""
    zoom = combine.zoom_of(link)
    setting = chosen.setting(length, dimension, zoom)
    shown = picture(setting)
    fitted_at = combine.fitted_at(link)
    reading = shown.preview.at(scale, fitted_at)
    combine.show_chart(link, chosen, shown, reading, zoom)
    remember(combine.PAGE, setting=setting, scale=scale, at=chosen.at, fitted_at=fitted_at)


main()
