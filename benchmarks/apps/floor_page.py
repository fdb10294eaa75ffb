"""The landing page's controls and fragment, and one line of text in place of all that it draws."""

import streamlit as st

from pages._ui.about import about
from pages._ui.controls.controls import encoding_choice, encoding_fields, setting, slider
from pages._ui.controls.link import Link
from posembed_core import encodings
from posembed_core.parameters import Choice, Flag, Integer, Real


def controls(link: Link) -> None:
    """As many as on the landing page: two menus and four popovers."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown("### :green[$h$] $=$ :blue[$e$] $+$ :orange[$s\\cdot p$]", width=230)
        setting(link, "tokens", Choice("Tokens", options=("random", "sentence")), "random")
        menu, titles = encoding_choice()
        slug = setting(link, "encoding", menu, "sinusoidal", format_func=titles.__getitem__)
        with st.popover("More"):
            encoding_fields(link, encodings()[slug])
            for name in ("token_seed", "token_std", "token_skip"):
                setting(link, name, Integer(name, low=0, high=1000), 1)
            setting(link, "operation", Choice("Operation", options=("add", "multiply")), "add")
            setting(link, "layer_norm", Flag("LayerNorm after"), False)
            setting(link, "sqrt_dim", Flag("Tokens × √d"), False)
        with st.popover("Handbook"):
            for title in ("one", "two", "three"):
                st.button(title, type="tertiary")
        for title in ("Code", "Take away"):
            st.popover(title, on_change="rerun", key=title, width="content")


@st.fragment
def line(link: Link) -> None:
    """The same sliders, one line of text, and the link, as in the landing page's fragment."""
    left, middle, right = st.columns(3)
    with left:
        whole = Integer("Max length", low=1, high=8192)
        length = slider(link, "length", whole, 128, step=1, log=True)
    with middle:
        wide = Integer("Dimension", low=2, high=4096)
        dimension = slider(link, "dimension", wide, 64, step=1, log=True)
    with right:
        scale = slider(link, "scale", Real("Scale s", low=0.0, high=5.0), 1.0, step=0.01)
    st.text(f"{length} × {dimension} at scale {scale:.2f}")
    if not st.session_state["floor.scale--live"]["dragging"]:
        link.write()


link = Link("floor")
controls(link)
line(link)
about(["sinusoidal"])
