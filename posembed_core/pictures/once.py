"""Values that are computed when they are first asked for, once, whichever thread asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")

_NOTHING: Any = object()


class Once:
    """Keeps what it has computed, by name.

    `functools.cached_property` won't do for work of seconds: before Python 3.12 all instances of a
    class share one lock, so that a large picture would keep every small one waiting. ``guard`` is
    entered around each computation. With ``most`` values, the next one makes it forget all others.
    """

    def __init__(
        self,
        guard: Callable[[], AbstractContextManager[Any]] = nullcontext,
        most: int | None = None,
    ) -> None:
        self._guard, self._most = guard, most
        self._lock = threading.Lock()
        self._values: dict[object, Any] = {}

    def __call__(self, name: object, compute: Callable[[], Value]) -> Value:
        """The value of that name, which ``compute`` gives the first time."""
        value: Value = self._values.get(name, _NOTHING)
        if value is not _NOTHING:
            return value
        with self._lock:
            value = self._values.get(name, _NOTHING)
            if value is _NOTHING:
                with self._guard():
                    value = compute()
                if self._most is not None and len(self._values) >= self._most:
                    self._values.clear()
                self._values[name] = value
        return value
