"""Long work takes turns: a few at once, shared evenly among visitors, and none for who has left."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class LeftError(Exception):
    """Nobody waits for this work any more."""


@dataclass(eq=False)
class _Place:
    is_there: Callable[[], bool]
    called: threading.Event = field(default_factory=threading.Event)
    dropped: bool = False


class Turns:
    """Lets ``at_once`` threads work at a time; safe to use from any thread.

    Next comes a visitor with the fewest at work, of those the one who has waited longest since the
    last turn, and of a visitor's work the one that has waited longest.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[_Place]] = {}  # by visitor; the last called one is last
        self._working: Counter[str] = Counter()

    @contextmanager
    def turn(self, visitor: str, is_there: Callable[[], bool]) -> Iterator[None]:
        """Wait for a turn, and have it until the block ends.

        ``is_there`` says whether somebody still waits for the work. It is asked when the turn has
        come; raises `LeftError` instead of having it where nobody does.
        """
        place = _Place(is_there)
        with self._lock:
            self._waiting.setdefault(visitor, deque()).append(place)
            self._call()
        place.called.wait()
        if place.dropped:
            raise LeftError
        try:
            yield
        finally:
            with self._lock:
                self._free += 1
                self._working -= Counter([visitor])
                self._call()

    def _call(self) -> None:
        while self._free and self._waiting:
            visitor = min(self._waiting, key=self._working.__getitem__)
            places = self._waiting.pop(visitor)
            place = places.popleft()
            if places:
                self._waiting[visitor] = places
            place.dropped = not place.is_there()
            if not place.dropped:
                self._free -= 1
                self._working[visitor] += 1
            place.called.set()
