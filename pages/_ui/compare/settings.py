"""What the comparison can be asked: which encodings, what of them, and in which sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from pages._ui.compare.facts import VIEWS
from pages._ui.compare.groups import NUM_HEADS, groups, one_of_each, short_title
from pages._ui.controls import Link, Several, choose_several, choose_view, setting
from pages._ui.controls.along import Own, Shared
from pages._ui.controls.choices import Sizes
from posembed_core import encodings
from posembed_core.parameters import Integer
from posembed_core.scripts.compare import CompareView

PAGE = "compare"
LENGTH = Sizes("Length", options=("16", "32", "64", "128", "256"))
DIMENSION = Sizes("Dimension", options=("16", "32", "64", "128", "256"))
HEAD = Integer("Head shown", low=1, high=NUM_HEADS, help="Of the encodings that act in the scores")


@dataclass(frozen=True)
class Chosen:
    """What the controls say: the encodings in their order, what is shown of them, their sizes.

    ``head`` is counted from 0.
    """

    slugs: tuple[str, ...]
    view: CompareView
    length: int
    dimension: int
    head: int

    @property
    def titles(self) -> dict[str, str]:
        """The short title of each encoding."""
        return {slug: short_title(slug) for slug in self.slugs}


def shared(params: Mapping[str, str]) -> Shared:
    """What goes along to other pages and comes along from them, at these settings."""
    named = params.get("encodings")
    return Shared(
        fields={
            "length": Own("length", LENGTH, "64"),
            "dimension": Own("dimension", DIMENSION, "64"),
        },
        encoding="encodings",
        slugs=one_of_each() if named is None else tuple(named.split("_")),
        most=len(encodings()),
    )


def choose(link: Link) -> Chosen:
    """Widgets for all of it, to stand in a row; a folded one for the encodings comes last."""
    # `choose_view` gives one of the keys of `VIEWS`, which are the views there are scripts for.
    view: CompareView = choose_view(link, VIEWS)  # type: ignore[assignment]
    if view == "norms":
        link.put_away("head")  # no score is in it
    length = int(setting(link, "length", LENGTH, "64", width=110))
    dimension = int(setting(link, "dimension", DIMENSION, "64", width=110))
    head = setting(link, "head", HEAD, 2, width=140) - 1
    return Chosen(_choose_encodings(link), view, length, dimension, head)


def _choose_encodings(link: Link) -> tuple[str, ...]:
    titles = {slug: short_title(slug) for slug in encodings()}
    parameter = Several("Encodings", options=tuple(titles), most=len(titles))
    with st.popover("Encodings"):
        return choose_several(link, "encodings", parameter, one_of_each(), titles, groups())
