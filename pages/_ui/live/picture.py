"""Charts of this page as pictures: buttons that save them, and one that hands them to Python."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages._ui.live.assets import stub
from pages._ui.live.stage import key_selector

# In the page's own document, where the chart is.
_buttons = st.components.v2.component(
    "live_picture", js=stub("picture.js", "buttons"), isolate_styles=False
)
_bundle = st.components.v2.component(
    "live_bundle", js=stub("picture.js", "bundle"), isolate_styles=False
)


def picture_buttons(charts: Mapping[str, str], name: str, *, key: str) -> None:
    """Buttons that save each chart as PNG and SVG, as it is seen, without the server.

    charts: what the chart is called ("" for the only one) → its key. The files are ``name``.png, or
    with several charts ``name``-called.png.
    """
    rows = [
        {
            "label": called,
            "file": f"{name}-{called}" if called else name,
            "chart": key_selector(chart),
        }
        for called, chart in charts.items()
    ]
    _buttons(key=key, data=rows)


def bundle_button(label: str, charts: Mapping[str, str], most: int, *, key: str) -> object | None:
    """A button that has the browser draw the charts; what it sent when pressed, else None.

    The message should be ``{called: {"png": base64, "svg": text}}`` of up to about ``most``
    characters, and may be anything: whoever reads it must look.
    """
    selectors = {called: key_selector(chart) for called, chart in charts.items()}
    data = {"label": label, "charts": selectors, "most": most}
    result = _bundle(key=key, data=data, on_drawings_change=_ignore)
    sent: object | None = result.get("drawings")
    return sent


def _ignore() -> None:
    """Streamlit only keeps a component's state between runs if it has a callback."""
