"""Every encoding on one setting: pictures side by side, and one table to project."""

from __future__ import annotations

import streamlit as st

from pages._ui import compare, live
from pages._ui.about import about
from pages._ui.bars import settings_bar
from pages._ui.controls import Link
from pages._ui.site import PAGES
from pages._ui.takeaway import tools


def main() -> None:
    """Ask, draw, tell."""
    link = Link(compare.PAGE, compare.shared)
    with settings_bar():
        chosen = compare.choose(link)
        place_of_tools = st.container(width="content")
    link.note_unknown()
    link.show_notices()
    slugs, length, dimension = chosen.slugs, chosen.length, chosen.dimension
    events = live.plot(
        compare.packed(slugs, chosen.view, length, dimension, chosen.head, link.around),
        key=f"{compare.PAGE}.{chosen.view}",
        alt=compare.alt(chosen),
    )
    st.markdown(f":small[{compare.SAID[chosen.view]} {compare.fadings(chosen)}]")
    st.html(compare.facts_table(slugs, length, dimension))
    st.markdown(f":small[{compare.about_the_table(chosen)}]")
    about(slugs)
    link.write()
    if events.click is not None:
        clicked = compare.clicked(chosen, events.click.trace)
        st.switch_page(PAGES[0].file, query_params={**clicked, **dict(link.around)})
    with place_of_tools:
        tools(compare.PAGE, lambda: compare.comparison_shown(chosen))


main()
