"""The law of all controls: each one that a page shows changes something that is seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.compare.facts import VIEWS as COMPARISONS
from pages._ui.controls import Indices, Several, Text
from pages._ui.controls.link import Link
from pages._ui.server.training_queue import RunState
from pages._ui.table import training
from posembed_core import TrainingSpec, train_table
from posembed_core.parameters import Choice, Flag, Number, Parameter, Reals
from tests.visits import arrived

# A training so short that it is done at once.
TRAINED = {
    "max_seq_len": "16", "embed_dim": "8", "num_tokens": "4", "batch_size": "2", "steps": "4",
    "step": "4", "seq_len": "12",
}  # fmt: skip
# Random words: what a real model adds is the same menus.
RANDOM = {"tokens": "random"}
PLACES = [
    ("combine", {}),
    ("combine", {"encoding": "learned"}),
    ("combine", {"encoding": "rope"}),
    ("combine", {"encoding": "alibi"}),
    ("combine", {"encoding": "shaw"}),
    ("combine", {"encoding": "none"}),
    ("combine", {"tokens": "sentence", "encoding": "model", "length": "6"}),
    *[("attention", {"view": view, **RANDOM}) for view in ("weights", "shift", "four", "distance")],
    *[("compare", {"view": view}) for view in COMPARISONS],
    *[("table", {"view": view, **TRAINED}) for view in ("training", "lookup", "compare")],
    *[("table", {"view": "lookup", "source": name}) for name in ("trained", "model")],
    ("table", {"view": "gradient", **TRAINED, "max_seq_len": "32"}),
    *[("table", {"view": "measures", "measure": name, **TRAINED}) for name in ("norms", "waves")],
    ("table", {"view": "measures", "source": "learned"}),
    ("long_context", {}),
]  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Parameter, Any]]:
    """What the last page asked its visitors: by name the parameter, and the value shown."""
    shown: dict[str, tuple[Parameter, Any]] = {}
    visible: set[str] = set()
    hides, keep = Link.hides, Link.keep

    def noted(link: Link, name: str) -> bool:
        hidden = hides(link, name)
        if not hidden:
            visible.add(name)
        return hidden

    def kept(link: Link, name: str, parameter: Parameter, value: Any, default: Any) -> None:
        keep(link, name, parameter, value, default)
        if name in visible:
            shown[name] = (parameter, value)

    monkeypatch.setattr(Link, "hides", noted)
    monkeypatch.setattr(Link, "keep", kept)
    return shown


class AtOnce:
    """In the place of the queue of trainings: each run is done when it is asked for."""

    def watch(self, spec: TrainingSpec, _watcher: str, *, until: int, visitor: str) -> Any:
        snapshots = tuple(shot for shot in train_table(spec) if 0 < shot.step <= until)
        return RunState(spec, "done", snapshots)

    def look(self, spec: TrainingSpec) -> None:
        return None

    def leave(self, watcher: str) -> None:
        return None


def others(parameter: Parameter, value: Any) -> Iterator[Any]:
    """A few values besides the one shown."""
    if isinstance(parameter, Choice):
        yield from [option for option in parameter.options if option != value][:4]
    elif isinstance(parameter, Flag):
        yield not value
    elif isinstance(parameter, Number):
        near = 3 if value is None else value
        for number in (near + 1, near - 1, near / 2, near * 2):
            fits = parameter.low <= number <= parameter.high
            if fits and (number == int(number) or type(near) is float):
                yield type(near)(number)
    elif isinstance(parameter, Text):
        yield "dog bites man again"
    elif isinstance(parameter, Indices):
        yield (1,)
    elif isinstance(parameter, Several):
        yield value[:-1]
    else:
        assert isinstance(parameter, Reals)
        yield (1.0,) * 32


def seen(app: AppTest) -> list[Any]:
    """Words, tables and pictures."""
    kinds = ("markdown", "caption", "info", "error")
    words = [str(element.value) for kind in kinds for element in getattr(app, kind)]
    pictures = [element.proto.bytes for element in app.get("bidi_component")]
    return [words, [element.proto.body for element in app.get("html")], pictures]


@pytest.mark.parametrize(("page", "params"), PLACES)
def test_each_control_that_is_shown_changes_what_is_seen(
    asked: dict[str, tuple[Parameter, Any]],
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    params: Mapping[str, str],
) -> None:
    monkeypatch.setattr(training, "RUNS", AtOnce())
    before = seen(arrived(page, params))
    controls = dict(asked)
    assert controls
    idle = {
        name
        for name, (parameter, value) in controls.items()
        if all(
            seen(arrived(page, {**params, name: parameter.format(other)})) == before
            for other in others(parameter, value)
        )
    }
    assert idle == set()
