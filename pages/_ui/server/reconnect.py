"""A page whose server was replaced draws itself again as soon as it reaches the next one."""

from datetime import timedelta

import streamlit as st


@st.fragment(run_every=timedelta(days=1))
def follow_the_server() -> None:
    """Call it once on every page.

    A session lives in one server process. When that is killed or restarted, Streamlit's browser
    side opens a session at another one, but asks it for the page only if a run was in progress or a
    fragment repeats itself. Otherwise the page looks alive while the server knows none of its
    fragments, and sliders move nothing. So this fragment repeats once a day, and draws nothing.
    """
