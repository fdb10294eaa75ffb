"""Buttons that save a chart of this page as PNG and SVG, without the server."""

from __future__ import annotations

import streamlit as st

from pages._ui.live.assets import stub
from pages._ui.live.stage import key_selector

# In the page's own document, where the chart is.
_buttons = st.components.v2.component("live_picture", js=stub("picture.js"), isolate_styles=False)


def picture_buttons(chart: str, name: str, *, key: str) -> None:
    """Buttons that save the chart with the key ``chart`` as ``name``.png or .svg, as it is seen."""
    _buttons(key=key, data={"chart": key_selector(chart), "name": name})
