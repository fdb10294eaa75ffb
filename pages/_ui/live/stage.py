"""What surrounds a page in the browser: large type, and an outline around one thing to look at."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from pages._ui.live.assets import stub
from pages._ui.live.spoken import spoken

# It marks elements of the page's own document.
_stage = st.components.v2.component("stage", js=stub("stage.js"), isolate_styles=False)


def stage(
    *,
    present: bool,
    keys: Mapping[str, str],
    point: str = "",
    below: str = "",
    look: str = "",
    say: str = "",
    done: str = "",
    style: str = "",
) -> None:
    """Set the stage for the page drawn in this run.

    present: large type and little room around it; ``html`` has the attribute ``data-present`` then.
    point: CSS selector of what to outline, which has the attribute ``data-pointed``; ``look`` names
        it on a button that goes there. A new one, with other words to ``say``, is scrolled into
        sight, below the element of the page with the CSS selector ``below`` if that sticks.
    say: read out by a screen reader when it changes; the page is at its top then.
    keys: shortcut, as ``KeyboardEvent.key`` says it → the Streamlit key of its button; so they work
        wherever nothing is typed.
    done: a name that this browser keeps; ``html`` lists all it has in its attribute ``data-done``.
    style: CSS of the app's own, which may use those attributes.
    """
    _stage(
        key="stage",
        width="content",
        data={
            "present": present,
            "point": point,
            "below": below,
            "look": spoken(look),
            "say": spoken(say),
            "done": done,
            "style": style,
            "keys": {key: f"{key_selector(button)} button" for key, button in keys.items()},
        },
    )


def key_selector(key: str) -> str:
    """The CSS selector of the element with a Streamlit key."""
    return f".st-key-{re.sub('[^a-zA-Z0-9_-]', '-', key)}"
