"""The learned table: noise, training, one row's lookup, a real model's table, your own file."""

from __future__ import annotations

import streamlit as st

from pages._ui import table
from pages._ui.about import about, of_family
from pages._ui.bars import settings_bar
from pages._ui.controls import Link, choose_view
from posembed_core import AdditiveEncoding, PositionTable


def main() -> None:
    """Ask, follow the run, then show one view of it."""
    link = Link(table.PAGE, table.shared)
    with settings_bar():
        st.markdown("### $p_i = P_{i,:}$", width=130)
        views = {name: view.title for name, view in table.VIEWS.items()}
        view = table.VIEWS[choose_view(link, views)]
        link.put_away(*view.idle(link))
        task = table.choose_task(link)
        spec = table.choose_spec(link, task)
        with st.popover("Your file"):
            own = table.upload()
    goal = table.goal_of(link, spec)
    view.draw(link, table.Chosen(spec, goal, table.follow(spec, goal), own))
    about([*of_family(AdditiveEncoding), PositionTable.slug])


main()
