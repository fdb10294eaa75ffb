"""What Streamlit needs for the landing page's sliders and one line that follows them."""

import streamlit as st

from pages._ui import live

st.set_page_config(layout="wide", page_title="Floor")


@st.fragment
def line() -> None:
    left, middle, right = st.columns(3)
    with left:
        length = live.live_slider(
            "Max length", key="length", value=128, low=1, high=8192, step=1, log=True
        )
    with middle:
        dimension = live.live_slider(
            "Dimension", key="dimension", value=64, low=2, high=4096, step=1, log=True
        )
    with right:
        scale = live.live_slider("Scale s", key="scale", value=1.0, low=0.0, high=5.0, step=0.01)
    st.text(f"{length} × {dimension} at scale {scale:.2f}")


line()
