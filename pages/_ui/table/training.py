"""The training of the table page: its settings, its buttons, and the run that a class shares."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages._ui.controls.along import Own, Params, Shared
from pages._ui.controls.controls import setting
from pages._ui.controls.link import Link
from pages._ui.escaped import in_markdown
from pages._ui.sentences import sentence
from pages._ui.server.kept import kept
from pages._ui.server.training_queue import RUNS, ClosedError
from pages._ui.server.training_run import RunState
from pages._ui.server.visitor import visitor
from posembed_core import EncodingError, TrainingSpec, train_table
from posembed_core.parameters import Integer
from posembed_core.training.tasks import TASKS
from posembed_core.training.training import Snapshot

POLL_SECONDS = 0.6
FRAMES = 40  # snapshots of a run, besides the first
GOAL, _SEED, _WATCHER = "table.step", "table.seed", "table.watcher"
_DEFAULT = TrainingSpec()
_STEP = Integer("Step", low=0, high=1000)
_NAMES = {task: task.replace("-", " ").capitalize() for task in TASKS}


@dataclass(frozen=True)
class Progress:
    """What of a run this reader sees: all snapshots up to the step that was asked for."""

    spec: TrainingSpec
    snapshots: Sequence[Snapshot]
    goes_on: bool
    others: int = 0
    place: int = 0
    waits_for_own: bool = False
    seconds_left: float | None = None
    problem: str = ""

    @property
    def last(self) -> Snapshot:
        """The newest snapshot."""
        return self.snapshots[-1]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to train."""
        return self.last.step == self.spec.steps


def shared(_params: Params) -> Shared:
    """What goes along to other pages and comes along from them, whatever the settings are."""
    sizes = {"length": "max_seq_len", "dimension": "embed_dim"}
    known = _DEFAULT.parameters()
    return Shared({
        name: Own(own, known[own], getattr(_DEFAULT, own)) for name, own in sizes.items()
    })  # fmt: skip


def choose_task(link: Link) -> str:
    """The menu of tasks."""
    task: str = setting(
        link, "task", _DEFAULT.parameters()["task"], _DEFAULT.task,
        format_func=_NAMES.__getitem__, width=215,
    )  # fmt: skip
    return task


def choose_spec(link: Link, task: str) -> TrainingSpec:
    """Widgets for all other settings of a run, folded."""
    known = TrainingSpec.parameters()
    names = [name for name in known if name not in {"task", "snapshot_every"}]
    asks = any(not link.hides(name) for name in names)
    with st.popover("Settings") if asks else st.container():
        fields = {name: setting(link, name, known[name], getattr(_DEFAULT, name)) for name in names}
    every = -(-fields["steps"] // FRAMES)
    try:
        return TrainingSpec(task=task, snapshot_every=every, **fields)
    except EncodingError as error:
        st.error(f"{sentence(error)} Shown instead: {in_markdown(error.nearest)}.")
        fields[str(error.field)] = error.nearest
        return TrainingSpec(task=task, snapshot_every=every, **fields)


def goal_of(link: Link, spec: TrainingSpec) -> int:
    """The step up to which the reader wants to see the run."""
    asked = link.read("step", _STEP, 0)
    if link.changed or GOAL not in st.session_state:
        st.session_state[GOAL] = asked
    goal = min(int(st.session_state[GOAL]), spec.steps)
    link.keep("step", _STEP, goal, 0)
    return goal


def follow(spec: TrainingSpec, goal: int) -> Progress:
    """Say that this reader is there and wants the run up to ``goal``; see how far it is."""
    watcher = st.session_state.setdefault(_WATCHER, uuid.uuid4().hex)
    first = _first_snapshot(spec)
    if goal == 0:
        return Progress(spec, (first,), goes_on=False)
    try:
        state = RUNS.watch(spec, watcher, until=goal, visitor=visitor())
    except ClosedError as error:
        return Progress(spec, (first,), goes_on=False, problem=sentence(error))
    return _progress(spec, first, state, goal)


def run(spec: TrainingSpec) -> None:
    """Train to the end."""
    st.session_state[GOAL] = spec.steps


def pause(spec: TrainingSpec) -> None:
    """Stay at the snapshot that is there; the run goes on only for others who watch it."""
    st.session_state[GOAL] = _shown_step(spec)
    RUNS.leave(st.session_state.get(_WATCHER, ""))


def step(spec: TrainingSpec) -> None:
    """Train up to the next snapshot."""
    st.session_state[GOAL] = min(_shown_step(spec) + spec.snapshot_every, spec.steps)


def reset() -> None:
    """Back to the noise that this seed gives."""
    st.session_state[GOAL] = 0
    RUNS.leave(st.session_state.get(_WATCHER, ""))


def reseed() -> None:
    """Other noise, from the next seed."""
    reset()
    st.session_state[_SEED] = int(st.session_state.get(_SEED, _DEFAULT.seed)) + 1


def buttons(progress: Progress) -> None:
    """Run or pause, one step, back to the start, another seed."""
    spec = progress.spec
    if progress.goes_on:
        st.button("Pause", on_click=pause, args=(spec,), width=90)
    else:
        st.button("Run", on_click=run, args=(spec,), width=90, disabled=progress.is_done)
    st.button("Step", on_click=step, args=(spec,), disabled=progress.goes_on or progress.is_done)
    st.button("Reset", on_click=reset, help="Back to the same noise")
    st.button("New seed", on_click=reseed, help="Other noise, from the next seed")


def progress_bar(progress: Progress) -> None:
    """How far the run is, and how long it will take."""
    if progress.problem:
        st.warning(progress.problem)
    st.progress(progress.last.step / progress.spec.steps, how_far(progress))


def how_far(progress: Progress) -> str:
    """The place of a run that waits; the step of any other, and how long it will take."""
    if progress.place:
        why = (
            "your trainings go on one at a time"
            if progress.waits_for_own
            else "the server has no room for more trainings at once"
        )
        return f"Waiting in place {progress.place}: {why}"
    text = f"Step {progress.last.step} of {progress.spec.steps}"
    if progress.goes_on and progress.others:
        others = "1 other training" if progress.others == 1 else (
            f"{progress.others} other trainings"
        )  # fmt: skip
        text += f", taking turns with {others}"
    if progress.goes_on and progress.seconds_left is not None:
        text += f", about {max(1, round(progress.seconds_left))} s left"
    return text


def _progress(spec: TrainingSpec, first: Snapshot, state: RunState, goal: int) -> Progress:
    later = tuple(s for s in state.snapshots if 0 < s.step <= goal)
    working = state.status in {"running", "waiting"} and state.step < goal
    return Progress(
        spec,
        (first, *later),
        goes_on=working,
        others=state.others,
        place=state.place if working else 0,
        waits_for_own=state.waits_for_own,
        seconds_left=state.seconds_left,
        problem=sentence(state.error) if state.error else "",
    )


def _shown_step(spec: TrainingSpec) -> int:
    state = RUNS.look(spec)
    return min(state.step if state else 0, int(st.session_state.get(GOAL, 0)))


@kept()
def _first_snapshot(spec: TrainingSpec) -> Snapshot:
    training = train_table(spec)
    first = next(training)
    training.close()
    return first
