"""What a view shows, as code and as files: the two buttons that most views have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from torch import Tensor

from pages._ui.takeaway.code import Script, code_popover
from pages._ui.takeaway.files import Table, Text, View
from pages._ui.takeaway.popover import here, take_away_popover
from pages._ui.takeaway.standalone import standalone_html
from posembed_core.scripts.values import NoRecipeError


@dataclass(frozen=True, eq=False)
class Plot:
    """One live plot of a view: ``key`` is the plot's own, ``figure`` makes it with its numbers.

    ``alt`` describes it in a sentence, ``caption`` says what a cell or a curve is.
    """

    key: str
    figure: Callable[[], go.Figure]
    alt: Callable[[], str]
    caption: Callable[[], str]


@dataclass(frozen=True, eq=False)
class OnScreen:
    """A view at its setting; each part is computed only when asked for.

    ``name`` is what its files are called. ``plots`` are keyed by the suffix of their files: ""
    for the only one. ``settings`` are what was chosen, in words; they also stand below each picture
    that is taken away, unless ``captions_are_whole``. ``scripts`` are by the title of what each
    computes, which makes the names of their files unless ``script_files`` has another for a title.
    ``sources`` are the core's functions behind the view.

    The README begins with what ``about`` says, or without it with alternative texts, captions and
    ``references``. A script that is downloaded by itself is called ``code_name``, or without it
    ``name``.
    """

    name: str
    title: str
    plots: Mapping[str, Plot]
    settings: Mapping[str, str]
    tables: Callable[[], Sequence[Table]]
    scripts: Mapping[str, Script]
    sources: Sequence[Callable[..., Any]]
    references: Iterable[str] = ()
    about: Callable[[], str] | None = None
    texts: Sequence[Text] = ()
    captions_are_whole: bool = False
    script_files: Mapping[str, str] = field(default_factory=dict)
    code_name: str = ""

    @property
    def charts(self) -> Mapping[str, str]:
        """The keys of the live plots, by the plots' names."""
        return {part: plot.key for part, plot in self.plots.items()}

    def view(self) -> View:
        """All of it, for download."""
        link = here()
        words = {part: (plot.alt(), plot.caption()) for part, plot in self.plots.items()}
        sentences = (sentence for both in words.values() for sentence in both)
        about = (
            "\n\n".join([*sentences, *dict.fromkeys(self.references)])
            if self.about is None
            else self.about()
        )
        return View(
            name=self.name,
            title=f"Posembed: {self.title}",
            about=about,
            link=link,
            settings=self.settings,
            tables=self.tables(),
            pictures={part: partial(self._page, part, link, *words[part]) for part in self.plots},
            scripts={
                self._file_of(title): script for title, script in written(self.scripts).items()
            },
            texts=self.texts,
        )

    def _file_of(self, title: str) -> str:
        alone = len(self.scripts) == 1
        return self.script_files.get(title, "" if alone else _slug(title))

    def _page(self, part: str, link: str, alt: str, caption: str) -> str:
        if not self.captions_are_whole:
            chosen = "; ".join(f"{name} {value}" for name, value in self.settings.items())
            caption = f"{caption} {chosen}."
        return standalone_html(
            self.plots[part].figure(),
            title=self.title,
            alt=alt,
            caption=caption,
            link=link,
            name=f"{self.name}-{part}" if part else self.name,
        )


@st.fragment
def tools(
    page: str,
    shown: Callable[[], OnScreen | None],
    others: Callable[[], None] | None = None,
) -> None:
    """The buttons "Code" and "Take away", for what is on the screen when they are opened.

    A fragment of its own: buttons beside moving pictures cost some milliseconds per frame each.
    ``others`` draws what else stands beside them.
    """
    now = shown()
    if now is None:  # the page says why
        return
    with st.container(horizontal=True, width="content"):
        if others is not None:
            others()
        name = now.code_name or now.name
        code_popover(now.scripts, now.sources, name=name, key=f"{page}.code")
        take_away_popover(now.view, now.charts, key=f"{page}.take")


def remember(page: str, **values: object) -> None:
    """Keep the values of a view's sliders, so that `tools` finds them."""
    st.session_state[f"{page}.shown"] = values


def remembered(page: str) -> Mapping[str, Any]:
    """The last values of the view's sliders."""
    values: Mapping[str, Any] = st.session_state.get(f"{page}.shown", {})
    return values


def whole(name: str, about: str, matrix: Tensor, **options: Any) -> Table:
    """A table of a matrix that has been computed already."""
    return Table(name, about, (matrix.shape[0], matrix.shape[1]), lambda at: matrix[at], **options)


def written(scripts: Mapping[str, Script]) -> dict[str, Script]:
    """The scripts without those that have no recipe."""
    return {name: script for name, script in scripts.items() if _is_written(script)}


def _is_written(script: Script) -> bool:
    try:
        script()
    except NoRecipeError:
        return False
    return True


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
