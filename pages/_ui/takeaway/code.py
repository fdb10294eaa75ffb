"""What the screen shows as code: a script in plain PyTorch, and the core's own source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages._ui.escaped import in_markdown
from posembed_core.scripts.values import NoRecipeError

Script = Callable[[], str]


class NothingShownError(Exception):
    """There is nothing on the screen to be taken from it; the text says why."""


IN_PYTORCH = "In PyTorch"  # what a view's only script is called
_HEIGHT = 460


def code_popover(
    scripts: Mapping[str, Script],
    sources: Sequence[Callable[..., Any]],
    *,
    name: str,
    key: str,
) -> None:
    """A button "Code" that opens the scripts of what is shown, and the functions behind it.

    Nothing is made before it is opened. ``scripts`` are by their names; one may raise
    `NoRecipeError` or `NothingShownError`, whose sentence is shown instead.
    ``sources`` are classes and functions of the core, shown as they are. ``name`` is that of the
    script's file.
    """
    popover = st.popover("Code", on_change="rerun", key=key, width="content")
    if not popover.open:
        return
    with popover:
        own = {f"Source of {source.__qualname__}": source for source in sources}
        menu = [*scripts, *own]
        shown = st.selectbox("What", menu, key=f"{key}.what", label_visibility="collapsed")
        if shown in own:
            st.caption(f"The core's own source, from `{own[shown].__module__}`.")
            st.code(source_of(own[shown]), "python", height=_HEIGHT)
        else:
            _show_script(scripts[shown], name, key)


def source_of(code: Callable[..., Any]) -> str:
    """The source of a class or function, as it runs."""
    return inspect.getsource(inspect.unwrap(code))


def _show_script(script: Script, name: str, key: str) -> None:
    try:
        text = script()
    except (NoRecipeError, NothingShownError) as error:
        st.caption(in_markdown(error))
        return
    st.caption("Plain PyTorch, without this project: it prints the numbers shown here.")
    st.code(text, "python", height=_HEIGHT)
    st.download_button(
        "Download", text, f"{name}.py", "text/x-python", on_click="ignore", key=f"{key}.download"
    )
