"""Stores of results that all sessions share: each is computed once, and bytes are bounded.

Whatever keeps something for all sessions reports its size with `report`; the metrics read that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, cast

import numpy as np
import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from pages._ui.bounds import share

Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])

_OBJECT = 200  # bytes of a small Python object, including its slot in a dictionary
_reported: dict[str, Callable[[], int]] = {}


def report(name: str, size: Callable[[], int]) -> None:
    """Register ``size`` to say how many bytes are kept under this name."""
    _reported[name] = size


def held_bytes() -> dict[str, int]:
    """What is kept for all sessions now: bytes by name."""
    return {name: size() for name, size in _reported.items()}


def weigh(value: object, known: set[int] | None = None) -> int:
    """About how many bytes a result holds: its tensors, arrays, texts and other parts.

    A part referred to twice counts once. A tensor counts as the whole storage it is a view of.
    """
    known = set() if known is None else known
    storage = value.untyped_storage() if isinstance(value, torch.Tensor) else None
    name = id(value) if storage is None else storage.data_ptr()
    if name in known or isinstance(value, type):
        return 0
    known.add(name)
    if storage is not None:
        return _OBJECT + int(storage.nbytes())
    if isinstance(value, np.ndarray):
        return _OBJECT + value.nbytes
    if isinstance(value, bytes | str):
        return _OBJECT + len(value)
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = [*value]
    else:
        parts = [*getattr(value, "__dict__", {}).values()]
    return _OBJECT + sum(weigh(part, known) for part in parts)


class Store(Generic[Value]):
    """Results by the arguments they were computed from; the least recently used leave first.

    It holds its `share` of all memory for caches, as ``weight`` counts it when a result is put in.
    A result larger than the whole store is returned and not kept.
    """

    def __init__(self, name: str, weight: Callable[[Value], int] = weigh) -> None:
        self.name = name
        self.results: LRUCache[Hashable, Value] = LRUCache(share(name), getsizeof=weight)
        self._changed = threading.Condition()
        report(name, lambda: self.size)

    @property
    def size(self) -> int:
        """Bytes kept now."""
        return int(self.results.currsize)

    @property
    def limit(self) -> int:
        """Bytes that may be kept."""
        return int(self.results.maxsize)

    def clear(self) -> None:
        """Forget all results."""
        with self._changed:
            self.results.clear()

    def keep(self, key: Callable[..., Hashable] = hashkey) -> Callable[[Function], Function]:
        """Have a function compute each result once, whichever session asks, while there is room.

        ``key`` makes something hashable of the arguments. While one thread computes a result,
        others that want the same wait for it, the rest don't; an error is raised and not kept.
        A result is shared: no caller may change it.
        """

        def decorate(function: Function) -> Function:
            code = function.__code__
            # Not its module and name: pages are scripts, and the module of each is "__main__".
            place = f"{code.co_filename}:{code.co_firstlineno}"

            def named(*args: Any, **kwargs: Any) -> Hashable:
                return place, key(*args, **kwargs)

            decorated = cached(self.results, key=named, condition=self._changed)(function)
            return cast(Function, decorated)

        return decorate
