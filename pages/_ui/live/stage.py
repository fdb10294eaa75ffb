"""What surrounds a page in the browser: large type, and an outline around one thing to look at."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from pages._ui.live.assets import stub

# It marks elements of the page's own document.
_stage = st.components.v2.component("stage", js=stub("stage.js"), isolate_styles=False)


def stage(
    *, present: bool, keys: Mapping[str, str], point: str = "", look: str = "", say: str = ""
) -> None:
    """Set the stage for the page drawn in this run.

    present: large type, and no texts but headings and what stands in the containers ``lesson`` and
        ``footer``.
    point: CSS selector of what to outline; ``look`` names it on a button that goes there.
    say: read out by a screen reader when it changes.
    keys: shortcut → the Streamlit key of its button; so they work wherever nothing is typed, and
        Page up and Page down, as a clicker sends them, press B and N.
    """
    _stage(
        key="stage",
        width="content",
        data={
            "present": present,
            "point": point,
            "look": look,
            "say": say,
            "keys": {key: key_selector(button) for key, button in keys.items()},
        },
    )


def key_selector(key: str) -> str:
    """The CSS selector of the element with a Streamlit key."""
    return f".st-key-{re.sub('[^a-zA-Z0-9_-]', '-', key)}"
