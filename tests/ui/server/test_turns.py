"""Long work takes turns: visitors share them evenly, and who has left doesn't get one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import StopException

import posembed_core as pc
from pages._ui.server import matrices, pictures, visitor
from pages._ui.server.setting import RandomTokens, Setting
from pages._ui.server.turns import LeftError, Turns

PATIENCE = 60


class Workers:
    """Threads that ask for turns; the work of each ends when the test says so."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.threads = ThreadPoolExecutor(100)
        self.here: set[str] = set()
        self.begun: list[str] = []
        self._ends: dict[str, threading.Event] = {}
        self._changed = threading.Condition()

    def ask(self, visitor: str, tab: int = 0) -> Future[None]:
        name = f"{visitor}{tab or ''}"
        self.here.add(name)
        self._ends[name] = threading.Event()
        waiting = self.waiting()
        future = self.threads.submit(self._work, visitor, name)
        self.until(lambda: name in self.begun or self.waiting() > waiting)
        return future

    def waiting(self) -> int:
        return sum(map(len, self.turns._waiting.values()))

    def end(self, name: str) -> None:
        """End this work, and wait for what comes next."""
        after = len(self.begun) + (self.waiting() > 0)
        self._ends[name].set()
        self.until(lambda: len(self.begun) >= after)

    def until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            while not condition():
                self._changed.wait(0.001)

    def _work(self, visitor: str, name: str) -> None:
        with self.turns.turn(visitor, lambda: name in self.here):
            with self._changed:
                self.begun.append(name)
                self._changed.notify_all()
            assert self._ends[name].wait(PATIENCE)

    def close(self) -> None:
        for end in self._ends.values():
            end.set()
        self.threads.shutdown()


@pytest.fixture
def workers() -> Iterator[Workers]:
    crowd = Workers(Turns(at_once=2))
    yield crowd
    crowd.close()


def test_only_so_many_work_at_a_time(workers: Workers) -> None:
    for name in "abcd":
        workers.ask(name)
    assert workers.begun == ["a", "b"]
    workers.end("b")
    workers.end("a")
    assert workers.begun == ["a", "b", "c", "d"]


def test_forty_tabs_are_one_visitor(workers: Workers) -> None:
    for tab in range(1, 41):
        workers.ask("tab", tab)
    workers.ask("other")
    assert workers.begun == ["tab1", "tab2"]
    workers.end("tab1")
    assert workers.begun[2:] == ["other"]
    workers.end("other")
    workers.ask("third")
    workers.end("tab2")
    assert workers.begun[3:] == ["tab3", "third"]


def test_visitors_take_turns_whoever_asked_more(workers: Workers) -> None:
    for name, tabs in (("a", 4), ("b", 3), ("c", 2)):
        for tab in range(1, tabs + 1):
            workers.ask(name, tab)
    for number in range(7):
        workers.end(workers.begun[number])
    assert workers.begun == ["a1", "a2", "b1", "a3", "c1", "b2", "a4", "c2", "b3"]


def test_forty_closed_tabs_cost_nothing(workers: Workers) -> None:
    # Somebody else's picture took 101 s.
    asked = [workers.ask(f"visitor {number}") for number in range(40)]
    other = workers.ask("other")
    workers.here = {"other"}
    workers.end("visitor 0")
    assert workers.begun == ["visitor 0", "visitor 1", "other"]
    for future in asked[2:]:
        with pytest.raises(LeftError):
            future.result(PATIENCE)
    assert not other.done()
    assert workers.waiting() == 0


def test_work_that_fails_makes_room(workers: Workers) -> None:
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), workers.turns.turn("a", lambda: True):
            _ = 1 / 0
    workers.ask("b")
    workers.ask("c")
    assert workers.begun == ["b", "c"]


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.local, set[str]]:
    """Which session a thread is in, and the sessions that are open."""
    here, active = threading.local(), set[str]()
    server = SimpleNamespace(is_active_session=active.__contains__)

    def context(**_: bool) -> object:
        name = getattr(here, "session", None)
        return name and SimpleNamespace(session_id=name)

    monkeypatch.setattr(visitor, "get_script_run_ctx", context)
    monkeypatch.setattr(visitor.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(visitor, "st", SimpleNamespace(context=SimpleNamespace(cookies={})))
    return here, active


def test_pictures_of_closed_tabs_are_never_computed(
    monkeypatch: pytest.MonkeyPatch, sessions: tuple[threading.local, set[str]]
) -> None:
    here, active = sessions
    monkeypatch.setattr(pictures, "_LARGE_VALUES", 100)
    monkeypatch.setattr(pictures, "_turns", turns := Turns(at_once=1))
    drawn: list[int] = []
    go_on = threading.Event()

    def tokens(source: RandomTokens, *shape: int) -> object:
        drawn.append(source.seed)
        assert go_on.wait(PATIENCE)
        return pc.random_tokens(*shape, seed=source.seed)

    monkeypatch.setattr(matrices, "_random_rows", tokens)
    encoding = pc.create("sinusoidal", embed_dim=8)

    def visit(seed: int) -> None:
        here.session = f"tab {seed}"
        pictures.picture(Setting(RandomTokens(seed=seed), 64, 8, encoding)).preview.frame(1.0)

    with ThreadPoolExecutor(41) as threads:
        active.update(f"tab {seed}" for seed in range(41))
        visits = [threads.submit(visit, 0)]
        while not drawn:
            assert not visits[0].done()
            time.sleep(0.001)
        visits += [threads.submit(visit, seed) for seed in range(1, 41)]
        while sum(map(len, turns._waiting.values())) < 40:
            assert not any(future.done() for future in visits)
            time.sleep(0.001)
        active.intersection_update({"tab 40"})
        go_on.set()
        visits[40].result(PATIENCE)
    # The first one's tokens were at work when its tab was closed; what they were for wasn't begun.
    assert drawn[0] == 0
    assert set(drawn) == {0, 40}
    assert all(isinstance(future.exception(), StopException) for future in visits[:40])


def test_a_session_is_there_until_it_is_closed(
    sessions: tuple[threading.local, set[str]],
) -> None:
    here, active = sessions
    assert visitor.presence()()
    here.session = "mine"
    active.add("mine")
    is_there = visitor.presence()
    here.session = "another's thread"
    assert is_there()
    active.clear()
    assert not is_there()
