"""What a view shows, as code and as files: the two buttons that most views have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import plotly.graph_objects as go
import streamlit as st
from torch import Tensor

from pages._ui.takeaway.code import Script, code_popover
from pages._ui.takeaway.files import Table, View
from pages._ui.takeaway.popover import here, take_away_popover
from pages._ui.takeaway.standalone import standalone_html
from posembed_core.scripts.values import NoRecipeError


class Given(Protocol):
    """What a view gives away; nothing of it is computed before it is asked for.

    ``scripts`` are by the name of what each computes, ``sources`` the core's functions behind the
    view, ``chart`` is the key of its live plot (of several, by their names in the view).
    """

    @property
    def name(self) -> str:
        """What its files are called."""

    @property
    def chart(self) -> str | Mapping[str, str]: ...

    @property
    def scripts(self) -> Mapping[str, Script]: ...

    @property
    def sources(self) -> Sequence[Callable[..., Any]]: ...

    def view(self) -> View:
        """All of it, to take away."""


@dataclass(frozen=True, eq=False)
class OnScreen:
    """A view at its setting; nothing in it is computed before it is asked for.

    ``name`` is what files are called, ``chart`` the key of the live plot, ``figure`` makes the same
    with its numbers, ``alt`` says it in a sentence and ``caption`` what a cell of it is.
    ``scripts`` are by the name of what each computes, ``sources`` the core's functions behind the
    view.
    """

    name: str
    title: str
    chart: str
    figure: Callable[[], go.Figure]
    alt: Callable[[], str]
    caption: Callable[[], str]
    settings: Mapping[str, str]
    tables: Sequence[Table]
    scripts: Mapping[str, Script]
    sources: Sequence[Callable[..., Any]]
    references: Iterable[str] = ()

    def view(self) -> View:
        """All of it, to take away."""
        link, alt, caption = here(), self.alt(), self.caption()
        scripts = written(self.scripts)
        return View(
            name=self.name,
            title=f"Posembed: {self.title}",
            about="\n\n".join([alt, caption, *dict.fromkeys(self.references)]),
            link=link,
            settings=self.settings,
            tables=self.tables,
            pictures={"": lambda: self._page(link, alt, caption)},
            scripts={
                "" if len(self.scripts) == 1 else _slug(title): one
                for title, one in scripts.items()
            },
        )

    def _page(self, link: str, alt: str, caption: str) -> str:
        said = "; ".join(f"{name} {value}" for name, value in self.settings.items())
        return standalone_html(
            self.figure(),
            title=self.title,
            alt=alt,
            caption=f"{caption} {said}.",
            link=link,
            name=self.name,
        )


@st.fragment
def tools(
    page: str, shown: Callable[[], Given | None], others: Callable[[], None] | None = None
) -> None:
    """The buttons "Code" and "Take away", for what is on the screen when they are opened.

    A fragment of its own: buttons beside moving pictures cost some milliseconds a frame each.
    ``others`` draws what else stands beside them.
    """
    now = shown()
    if now is None:  # the page says why
        return
    with st.container(horizontal=True, width="content"):
        if others is not None:
            others()
        code_popover(now.scripts, now.sources, name=now.name, key=f"{page}.code")
        take_away_popover(now.view, chart=now.chart, key=f"{page}.take")


def remember(page: str, **values: object) -> None:
    """Keep what the sliders of a view say, so that `tools` find it."""
    st.session_state[f"{page}.shown"] = values


def remembered(page: str) -> Mapping[str, Any]:
    """What the sliders of the view last said."""
    said: Mapping[str, Any] = st.session_state.get(f"{page}.shown", {})
    return said


def whole(name: str, about: str, matrix: Tensor, **options: Any) -> Table:
    """A table of a matrix that is there already."""
    return Table(name, about, (matrix.shape[0], matrix.shape[1]), lambda at: matrix[at], **options)


def written(scripts: Mapping[str, Script]) -> dict[str, Script]:
    """Those scripts that there is a recipe for."""
    return {name: script for name, script in scripts.items() if _is_written(script)}


def _is_written(script: Script) -> bool:
    try:
        script()
    except NoRecipeError:
        return False
    return True


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
