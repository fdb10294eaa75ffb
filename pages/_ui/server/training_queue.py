"""The server's training runs: visitors with equal settings share one, others wait their turn."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Literal

from pages._ui.bounds import share
from pages._ui.server.store import report
from posembed_core.training.training import Snapshot, TrainingSpec, train_table, unfinished_bytes

Status = Literal["waiting", "running", "paused", "finished", "failed"]

_logger = logging.getLogger(__name__)


class TooManyRunsError(RuntimeError):
    """No room for another run; the message says what to do."""


@dataclass(frozen=True)
class RunState:
    """A run at one moment.

    ``ahead`` is how many other runs come first while it waits. ``snapshots`` are all so far, in
    order. ``seconds_left`` is an estimate from the steps already done, None before there are any.
    """

    spec: TrainingSpec
    status: Status
    snapshots: tuple[Snapshot, ...]
    ahead: int = 0
    seconds_left: float | None = None
    error: str = ""

    @property
    def step(self) -> int:
        """How many steps are done."""
        return self.snapshots[-1].step if self.snapshots else 0


@dataclass(eq=False)
class _Run:
    spec: TrainingSpec
    source: Generator[Snapshot, None, None]
    wishes: dict[str, tuple[int, float]] = field(default_factory=dict)  # watcher: step, deadline
    snapshots: list[Snapshot] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""

    @property
    def step(self) -> int:
        return self.snapshots[-1].step if self.snapshots else -1

    @property
    def size(self) -> int:
        held = sum(s.weight.nbytes + s.query_key.nbytes for s in self.snapshots)
        goes_on = self.snapshots and not self.finished and not self.error
        return held + (unfinished_bytes(self.spec) if goes_on else 0)

    @property
    def finished(self) -> bool:
        return self.step == self.spec.steps

    def wanted(self, now: float) -> bool:
        """Whether a watcher seen lately wants steps that haven't been computed yet."""
        self.wishes = {who: wish for who, wish in self.wishes.items() if wish[1] > now}
        return not self.error and any(until > self.step for until, _ in self.wishes.values())


class TrainingQueue:
    """A queue of training runs with one worker thread of low priority.

    A run goes on while some session has asked for it in the last ``patience`` seconds;
    then it pauses and can be resumed. At most ``most_waiting`` runs wait. Results and paused
    runs are kept up to ``most_bytes``, the latest used first; a watched run is never dropped, so
    this is no `Store`. Safe to call from any thread. One thread, not a process: beside it 2.2 ms of
    work in another thread took 2.4 ms in the median (two busy cores).
    """

    def __init__(
        self,
        *,
        most_waiting: int = 16,
        most_bytes: int = 256 * 2**20,
        patience: float = 10.0,
        train: Callable[[TrainingSpec], Generator[Snapshot, None, None]] = train_table,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_waiting, self._most_bytes, self._patience = most_waiting, most_bytes, patience
        self._train, self._clock = train, clock
        self._runs: dict[TrainingSpec, _Run] = {}  # least recently used first
        self._queue: list[_Run] = []  # wanted runs; the first is in progress
        self._changed = threading.Condition()
        self._closed = False
        self._worker: threading.Thread | None = None

    def watch(self, spec: TrainingSpec, watcher: str, until: int | None = None) -> RunState:
        """Ask for a run up to step ``until`` (None: the end), and say that ``watcher`` is there.

        Call it again, at least every ``patience`` seconds, to stay a watcher. A watcher watches
        one run at a time. Raises `TooManyRunsError` when the run would have to wait and the queue
        is full.
        """
        with self._changed:
            if self._closed:
                raise TooManyRunsError("this server is shutting down; reload the page in a minute")
            now = self._clock()
            self._forget(watcher, spec)
            run = self._runs.pop(spec, None) or _Run(spec, self._train(spec))
            self._runs[spec] = run  # now the one used last
            run.wishes[watcher] = (spec.steps if until is None else until, now + self._patience)
            self._tidy(now)
            if run.wanted(now) and run not in self._queue:
                if len(self._queue) > self._most_waiting:
                    del run.wishes[watcher]
                    raise TooManyRunsError(
                        f"{self._most_waiting} trainings wait already; try again in a minute, "
                        "or take settings that somebody trains right now"
                    )
                self._queue.append(run)
                self._start()
                self._changed.notify_all()
            return self._state(run)

    def leave(self, watcher: str) -> None:
        """Forget a watcher, who pauses or has gone."""
        with self._changed:
            self._forget(watcher)

    def look(self, spec: TrainingSpec) -> RunState | None:
        """The run with these settings as it is, if it is known, without asking for more of it."""
        with self._changed:
            self._tidy(self._clock())
            run = self._runs.get(spec)
            return None if run is None else self._state(run)

    def load(self) -> dict[str, int]:
        """How many runs are worked on and how many wait, under "running" and "waiting"."""
        with self._changed:
            self._tidy(self._clock())
            running = min(1, len(self._queue))
            return {"running": running, "waiting": len(self._queue) - running}

    def held_bytes(self) -> int:
        """What all runs hold: snapshots, and the models of those that haven't ended."""
        with self._changed:
            return sum(run.size for run in self._runs.values())

    def wait(self, spec: TrainingSpec, seconds: float) -> RunState | None:
        """As `look`, but after a new snapshot, a stop of the run, or a timeout."""
        with self._changed:
            run = self._runs.get(spec)
            if run is not None:
                count = len(run.snapshots)
                self._changed.wait_for(
                    lambda: len(run.snapshots) > count or run not in self._queue, seconds
                )
        return self.look(spec)

    def close(self) -> None:
        """End the current run and the worker; existing results stay readable."""
        with self._changed:
            self._closed = True
            self._queue.clear()
            self._changed.notify_all()
            worker = self._worker
        if worker is not None:
            worker.join()

    def _forget(self, watcher: str, but: TrainingSpec | None = None) -> None:
        for spec, run in self._runs.items():
            if spec != but:
                run.wishes.pop(watcher, None)

    def _start(self) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="training", daemon=True)
            self._worker.start()

    def _tidy(self, now: float) -> None:
        """Drop unwanted runs from the queue, and from memory those over the limit."""
        wanted = {spec for spec, run in self._runs.items() if run.wanted(now)}
        self._queue = [run for run in self._queue if run.spec in wanted]
        size = sum(run.size for run in self._runs.values())
        for spec, run in list(self._runs.items()):
            empty = not run.snapshots and not run.wishes
            if empty or (size > self._most_bytes and spec not in wanted):
                size -= run.size
                del self._runs[spec]

    def _state(self, run: _Run) -> RunState:
        status: Status = "paused"
        ahead = 0
        if run.error:
            status = "failed"
        elif run.finished:
            status = "finished"
        elif run in self._queue:
            ahead = self._queue.index(run)
            status = "waiting" if ahead else "running"
        left = (run.spec.steps - run.step) * run.seconds / run.step if run.step > 0 else None
        return RunState(run.spec, status, tuple(run.snapshots), ahead, left, run.error)

    def _work(self) -> None:
        if sys.platform == "linux":  # where a thread has a priority of its own
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + 5)
        while True:
            with self._changed:
                self._tidy(self._clock())
                while not self._queue and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                run = self._queue[0]
            self._advance(run)

    def _advance(self, run: _Run) -> None:
        began = time.perf_counter()
        snapshot, error = None, ""
        try:
            snapshot = next(run.source)
        except Exception:  # whatever went wrong in one run, the others go on
            _logger.exception("A training run failed")
            error = "the training failed; try other settings"
        with self._changed:
            if snapshot is None:
                run.error = error
            else:
                run.snapshots.append(snapshot)
                run.seconds += time.perf_counter() - began
                if run.finished:
                    run.source.close()  # and with it the model
            self._tidy(self._clock())
            self._changed.notify_all()


RUNS = TrainingQueue(most_bytes=share("trainings"))
report("trainings", RUNS.held_bytes)
atexit.register(RUNS.close)
