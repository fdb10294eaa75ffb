"""A strip of cells of a few kinds, with a button for each kind under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import streamlit as st

from pages._ui.live.assets import stub

Look = Literal["turns", "scaled", "biased", "window"]

_strip = st.components.v2.component("strip", js=stub("strip.js"))


@dataclass(frozen=True)
class Kind:
    """What cells of one kind look like, and what their button says."""

    words: str
    looks: tuple[Look, ...] = ()


def kinds_strip(
    label: str,
    kinds: Sequence[Kind],
    cells: Sequence[int],
    shown: int,
    *,
    key: str,
    on_pick: Callable[[int], None],
) -> None:
    """Draw the strip; a click on a cell or a button calls ``on_pick`` with its kind.

    label: what the buttons choose, for screen readers.
    cells: the kind of each cell, as an index into ``kinds``; ``shown`` is the kind that is marked.
    """

    def pick() -> None:
        kind = picked(st.session_state.get(key), len(kinds))
        if kind is not None:
            on_pick(kind)

    _strip(
        key=key,
        data={
            "label": label,
            "kinds": [asdict(kind) for kind in kinds],
            "cells": list(cells),
            "shown": shown,
        },
        on_pick_change=pick,
    )


def picked(state: object, kinds: int) -> int | None:
    """The kind that the browser sent, None if it makes no sense: the websocket is open to anybody.

    >>> picked({"pick": 1}, 2), picked({"pick": 2}, 2), picked({"pick": True}, 2)
    (1, None, None)
    """
    kind = state.get("pick") if isinstance(state, Mapping) else None
    if isinstance(kind, bool) or not isinstance(kind, int):
        return None
    return kind if 0 <= kind < kinds else None
