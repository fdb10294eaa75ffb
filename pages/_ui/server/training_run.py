"""One training run as the server's queue keeps it, and what a page is told of it."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from posembed_core.training.training import Snapshot, TrainingSpec, unfinished_bytes

Status = Literal["waiting", "running", "paused", "finished", "failed"]


@dataclass(frozen=True)
class RunState:
    """A run at one moment.

    ``snapshots`` are all so far, in order. While it runs, ``others`` is how many other runs take
    turns with it, and ``seconds_left`` an estimate from what each has taken so far, None before
    there is anything to go by. While it waits, ``place`` is its place in the queue, 1 for the next,
    and ``waits_for_own`` says that what comes first are other runs of the same visitor.
    """

    spec: TrainingSpec
    status: Status
    snapshots: tuple[Snapshot, ...]
    others: int = 0
    place: int = 0
    waits_for_own: bool = False
    seconds_left: float | None = None
    error: str = ""

    @property
    def step(self) -> int:
        """How many steps are done."""
        return self.snapshots[-1].step if self.snapshots else 0


class Wish(NamedTuple):
    """A watcher's: whose it is, the step that is wanted, and when it is forgotten."""

    visitor: str
    until: int
    deadline: float


@dataclass(eq=False)
class Run:
    """A run with those who watch it; ``source`` computes its next snapshot."""

    spec: TrainingSpec
    source: Generator[Snapshot, None, None]
    wishes: dict[str, Wish] = field(default_factory=dict)  # by watcher
    snapshots: list[Snapshot] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""

    @property
    def step(self) -> int:
        """The last snapshot's; -1 before the first."""
        return self.snapshots[-1].step if self.snapshots else -1

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.step == self.spec.steps

    @property
    def visitors(self) -> dict[str, None]:
        """Those who want more of it than is there, in the order in which they asked."""
        return {wish.visitor: None for wish in self.wishes.values() if wish.until > self.step}

    @property
    def size(self) -> int:
        """The bytes that it holds: snapshots, and its model while it goes on."""
        held = sum(s.weight.nbytes + s.query_key.nbytes for s in self.snapshots)
        goes_on = self.snapshots and not self.finished and not self.error
        return held + (unfinished_bytes(self.spec) if goes_on else 0)

    @property
    def most_bytes(self) -> int:
        """The most that it will hold."""
        width = self.spec.embed_dim
        each = 4 * width * (self.spec.max_seq_len + width)
        return unfinished_bytes(self.spec) + (1 + self._until(self.spec.steps)) * each

    @property
    def snapshots_left(self) -> int:
        """How many are still to come until everybody has what they wait for."""
        until = max((wish.until for wish in self.wishes.values()), default=0)
        return max(0, self._until(until) - self._until(max(0, self.step)))

    @property
    def pace(self) -> float:
        """Seconds for each snapshot so far; 0 before the first."""
        return self.seconds / len(self.snapshots) if self.snapshots else 0.0

    def wanted(self, now: float) -> bool:
        """Whether a watcher seen lately wants steps that haven't been computed yet."""
        self.wishes = {who: wish for who, wish in self.wishes.items() if wish.deadline > now}
        return not self.error and bool(self.visitors)

    def begin_again(self, source: Generator[Snapshot, None, None]) -> None:
        """Let go of all that it holds."""
        self.source, self.snapshots, self.seconds = source, [], 0.0

    def _until(self, step: int) -> int:
        return math.ceil(step / self.spec.snapshot_every)
