"""Where controls stand: settings above the pictures, sliders in a bar of their own.

On a phone the settings are behind one button, and the bar of sliders stays at the bottom of the
window, below the pictures (site.css).
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def settings_bar(name: str = "first") -> DeltaGenerator:
    """A row for a page's settings; where there are several each has a ``name``."""
    return st.container(horizontal=True, vertical_alignment="bottom", key=f"settings-{name}")


def slider_bar() -> DeltaGenerator:
    """A row for the sliders of a page, in the fragment that draws its pictures."""
    return st.container(horizontal=True, vertical_alignment="center", key="sliders")
