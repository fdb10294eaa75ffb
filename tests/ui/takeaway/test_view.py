"""A view to take away: when it is computed, and what its files are called."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NoReturn

import plotly.graph_objects as go
import pytest
import torch

from pages._ui.takeaway import OnScreen, Plot, Text, tools
from pages._ui.takeaway.view import whole
from posembed_core.scripts.values import NoRecipeError
from tests.visits import opened

LINK = "http://localhost/page?scale=2"


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages._ui.takeaway.view.here", lambda: LINK)


def plot(name: str) -> Plot:
    return Plot(
        f"page.{name}",
        lambda: go.Figure(go.Scatter(y=[1, 2], name=name)),
        alt=lambda: f"{name} in a sentence.",
        caption=lambda: f"What {name} shows.",
    )


def view(**changes: Any) -> OnScreen:
    """Two plots and two scripts, one of which has no recipe."""

    def missing() -> NoReturn:
        raise NoRecipeError("There is no recipe.")

    shown = OnScreen(
        name="posembed-page",
        title="Two plots",
        plots={"left": plot("left"), "right": plot("right")},
        settings={"scale": "2", "head": "1"},
        tables=lambda: [whole("ones", "all ones", torch.ones(2, 3))],
        scripts={"An encoding": lambda: "print(1)", "No encoding": missing},
        sources=[whole],
        references=["A paper.", "Another.", "A paper."],
    )
    return dataclasses.replace(shown, **changes)


def test_files_are_called_after_plots_and_scripts() -> None:
    taken = view().view()
    words = {text.name: text.make() for text in taken.words()}
    assert list(words) == [
        "posembed-page-left.html", "posembed-page-right.html", "posembed-page-an-encoding.py",
    ]  # fmt: skip
    for name in ("left", "right"):
        page = words[f"posembed-page-{name}.html"]
        assert f'aria-label="{name} in a sentence."' in page
        assert f"<p>What {name} shows. scale 2; head 1.</p>" in page
        assert f'filename: "posembed-page-{name}"' in page
        assert "<h1>Two plots</h1>" in page
    assert taken.title == "Posembed: Two plots"
    assert taken.link == LINK
    assert taken.about.split("\n\n") == [
        "left in a sentence.", "What left shows.", "right in a sentence.", "What right shows.",
        "A paper.", "Another.",
    ]  # fmt: skip
    assert view().charts == {"left": "page.left", "right": "page.right"}


def test_the_only_plot_and_the_only_script_have_the_views_own_name() -> None:
    alone = view(plots={"": plot("all")}, scripts={"An encoding": lambda: "print(1)"})
    assert [text.name for text in alone.view().words()] == [
        "posembed-page.html", "posembed-page.py",
    ]  # fmt: skip


def test_a_view_may_say_its_own_words() -> None:
    own = view(
        about=lambda: "What all of it is.",
        captions_are_whole=True,
        script_files={"An encoding": "none"},
        texts=[Text("facts.csv", "facts", lambda: "a,b")],
    )
    taken = own.view()
    words = {text.name: text.make() for text in taken.words()}
    assert list(words)[2:] == ["posembed-page-none.py", "facts.csv"]
    assert "<p>What left shows.</p>" in words["posembed-page-left.html"]
    assert taken.about == "What all of it is."


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    def never() -> NoReturn:
        raise AssertionError("computed too early")

    idle = Plot("page.idle", never, alt=lambda: "Alt.", caption=lambda: "Caption.")
    waiting = view(plots={"": idle}, tables=never, scripts={"An encoding": never}, about=never)
    assert waiting.charts == {"": "page.idle"}
    # Filling the popover draws no figure and writes no page either.
    view(plots={"": idle}).view()
    with pytest.raises(AssertionError, match="too early"):
        waiting.view()


@pytest.mark.parametrize(
    ("page", "name"),
    [("compare", "posembed-compare"), ("table", "posembed-table-neighbourhood-average-step-0")],
)
def test_a_script_that_is_downloaded_by_itself_has_a_name(
    page: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def note(*_args: object, name: str, key: str) -> None:
        names.append(name)

    monkeypatch.setattr("pages._ui.takeaway.view.code_popover", note)
    opened(page, f"{page}.code")
    assert names[-1] == name  # after the landing page


def test_a_view_without_anything_to_give_has_no_buttons(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_args: object, **_options: object) -> NoReturn:
        raise AssertionError("drawn")

    monkeypatch.setattr("pages._ui.takeaway.view.code_popover", never)
    draw: Callable[..., None] = tools.__wrapped__  # type: ignore[attr-defined]
    draw("page", lambda: None)
