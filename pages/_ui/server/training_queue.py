"""The server's training runs: those with equal settings share one, visitors take turns."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Generator

from pages._ui.bounds import share
from pages._ui.server.store import report
from pages._ui.server.training_run import Run, RunState, Status, Wish
from posembed_core.training.training import Snapshot, TrainingSpec, train_table

_logger = logging.getLogger(__name__)


class ClosedError(RuntimeError):
    """No run is taken on any more; the message says what to do."""


class TrainingQueue:
    """A queue of training runs with one worker thread of low priority.

    Visitors take turns, one snapshot each, and one run of each visitor at a time. As many visitors
    take part as their runs will fit into ``most_bytes``, at least one; the others wait, whoever had
    a turn longest ago comes first, and nobody is refused. A run goes on while some session has
    asked for it in the last ``patience`` seconds; then it pauses and can be resumed. Results and
    paused runs are kept while there is room, the latest used first; a run that takes turns is never
    dropped, nor a result that is looked at, so this is no `Store`. Safe to call from any thread.
    One thread, not a process: beside it 2.2 ms of work in another thread took 2.4 ms in the median
    (two busy cores).
    """

    def __init__(
        self,
        *,
        most_bytes: int = 256 * 2**20,
        patience: float = 10.0,
        train: Callable[[TrainingSpec], Generator[Snapshot, None, None]] = train_table,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_bytes, self._patience = most_bytes, patience
        self._train, self._clock = train, clock
        self._runs: dict[TrainingSpec, Run] = {}  # least recently used first
        self._queue: list[Run] = []  # wanted runs, in the order in which they were asked for
        self._visitors: dict[str, None] = {}  # who wants them: who had a turn longest ago first
        self._turns: dict[str, Run] = {}  # the run of each visitor who takes turns
        self._changed = threading.Condition()
        self._closed = False
        self._worker: threading.Thread | None = None

    def watch(
        self, spec: TrainingSpec, watcher: str, until: int | None = None, visitor: str = ""
    ) -> RunState:
        """Ask for a run up to step ``until`` (None: the end), and say that ``watcher`` is there.

        Call it again, at least every ``patience`` seconds, to stay a watcher. A watcher watches
        one run at a time; ``visitor`` may have several watchers, by default it is the watcher.
        Raises `ClosedError` after `close`.
        """
        with self._changed:
            if self._closed:
                raise ClosedError("this server is shutting down; reload the page in a minute")
            now = self._clock()
            self._forget(watcher, spec)
            run = self._runs.pop(spec, None) or Run(spec, self._train(spec))
            self._runs[spec] = run  # now the one used last
            until = spec.steps if until is None else until
            run.wishes[watcher] = Wish(visitor or watcher, until, now + self._patience)
            if run not in self._queue and run.wanted(now):
                self._queue.append(run)
                self._start()
                self._changed.notify_all()
            self._arrange(now)
            return self._state(run)

    def leave(self, watcher: str) -> None:
        """Forget a watcher, who pauses or has gone."""
        with self._changed:
            self._forget(watcher)

    def look(self, spec: TrainingSpec) -> RunState | None:
        """The run with these settings as it is, if it is known, without asking for more of it."""
        with self._changed:
            self._arrange(self._clock())
            run = self._runs.get(spec)
            return None if run is None else self._state(run)

    def load(self) -> dict[str, int]:
        """How many runs take turns and how many wait for that, under "running" and "waiting"."""
        with self._changed:
            self._arrange(self._clock())
            running = len(self._turns)
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
            self._turns.clear()
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

    def _arrange(self, now: float) -> None:
        """See who takes turns; drop from the queue what is unwanted, and what memory can't hold."""
        wanted = {run for run in self._runs.values() if run.wanted(now)}
        self._queue = [run for run in self._queue if run in wanted]
        visitors = dict.fromkeys(who for run in self._queue for who in run.visitors)
        known = {who: None for who in self._visitors if who in visitors}
        self._visitors = known | visitors  # a newcomer's turn is after all others'
        self._turns = {
            who: run for who, run in self._turns.items() if run in wanted and who in run.visitors
        }
        # One of each visitor that is done with but still looked at, else it would begin again.
        looked_at = set({
            wish.visitor: run
            for run in self._runs.values() if run not in wanted
            for wish in run.wishes.values()
        }.values())  # fmt: skip
        self._admit(self._most_bytes - sum(run.size for run in looked_at))
        self._make_room(wanted, looked_at.union(self._turns.values()))

    def _admit(self, room: int) -> None:
        at_work = set(self._turns.values())
        waiting: dict[str, Run] = {}  # the first run of each visitor that takes no turns yet
        for run in self._queue:
            if run not in at_work:
                for who in run.visitors:
                    waiting.setdefault(who, run)
        room -= sum(run.most_bytes for run in at_work)
        for who in self._visitors:
            first = waiting.get(who)
            if who in self._turns or first is None or first in at_work:
                continue
            if at_work and first.most_bytes > room:
                break  # who comes later doesn't overtake, however small the run
            self._turns[who] = first
            at_work.add(first)
            room -= first.most_bytes

    def _make_room(self, wanted: set[Run], needed: set[Run]) -> None:
        size = sum(run.size for run in self._runs.values())
        for run in sorted(self._runs.values(), key=wanted.__contains__):  # the unwanted first
            if not run.snapshots and not run.wishes:
                del self._runs[run.spec]
            elif size > self._most_bytes and run not in needed:
                size -= run.size
                if run in wanted:
                    run.begin_again(self._train(run.spec))
                else:
                    del self._runs[run.spec]

    def _state(self, run: Run) -> RunState:
        status: Status = "paused"
        others, place, own, left = 0, 0, False, None
        if run.error:
            status = "failed"
        elif run.finished:
            status, left = "finished", 0.0
        elif run in self._turns.values():
            status, others, left = "running", len(self._turns) - 1, self._seconds_left(run)
        elif run in self._queue:
            status = "waiting"
            place, own = min(self._place(run, who) for who in run.visitors)
        return RunState(run.spec, status, tuple(run.snapshots), others, place, own, left, run.error)

    def _seconds_left(self, run: Run) -> float | None:
        """From what a snapshot of each run has taken, since each waits for all others' turns."""
        if run.step < 1:
            return None
        left = run.snapshots_left
        return sum(min(left, other.snapshots_left) * other.pace for other in self._turns.values())

    def _place(self, run: Run, visitor: str) -> tuple[int, bool]:
        """A waiting run's place in the queue on a visitor's account, and if own runs come first."""
        now = self._turns.get(visitor)
        earlier = self._queue[: self._queue.index(run)]
        own = sum(other is now or visitor in other.visitors for other in earlier)
        if now is not None:
            return max(1, own), True
        without = [who for who in self._visitors if who not in self._turns]
        return without.index(visitor) + 1 + own, own > 0

    def _work(self) -> None:
        if sys.platform == "linux":  # where a thread has a priority of its own
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + 5)
        while True:
            with self._changed:
                self._arrange(self._clock())
                while not self._turns and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                visitor = next(who for who in self._visitors if who in self._turns)
                del self._visitors[visitor]
                self._visitors[visitor] = None  # now the last
                run = self._turns[visitor]
            self._advance(run)

    def _advance(self, run: Run) -> None:
        began = time.perf_counter()
        source, snapshot, error = run.source, None, ""
        try:
            snapshot = next(source)
        except Exception:  # whatever went wrong in one run, the others go on
            _logger.exception("A training run failed")
            error = "the training failed; try other settings"
        with self._changed:
            if run.source is source:  # else it began again meanwhile
                run.error = error
                if snapshot is not None:
                    run.snapshots.append(snapshot)
                    run.seconds += time.perf_counter() - began
                if run.finished:
                    source.close()  # and with it the model
            self._arrange(self._clock())
            self._changed.notify_all()


RUNS = TrainingQueue(most_bytes=share("trainings"))
report("trainings", RUNS.held_bytes)
atexit.register(RUNS.close)
