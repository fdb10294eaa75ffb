"""Results that all visitors share, of whichever view: computed once, in one cache bounded in bytes.

Whole matrices, pictures and films have caches of their own (see `bounds`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import numpy as np
import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from pages._ui.bounds import share

Function = TypeVar("Function", bound=Callable[..., Any])

_OBJECT = 200  # bytes, of a small Python object with its place in a dictionary


def weigh(value: object, known: set[int] | None = None) -> int:
    """About how many bytes a result holds: its tensors, arrays, texts and all that it is made of.

    What it refers to twice counts once. A tensor counts as the whole storage it is a view of.
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


_results: LRUCache[Hashable, Any] = LRUCache(share("results"), getsizeof=weigh)
_changed = threading.Condition()


def result_bytes() -> int:
    """What the results kept take, for the metrics."""
    return int(_results.currsize)


def kept(key: Callable[..., Hashable] = hashkey) -> Callable[[Function], Function]:
    """Have a function compute each result once, whichever session asks, while there is room for it.

    ``key`` makes something hashable of the arguments. A result is shared: nobody may change it.
    While one thread computes it, others that want the same wait for it.
    """

    def decorate(function: Function) -> Function:
        code = function.__code__
        # Not its module and name: pages are scripts, and the module of each is "__main__".
        name = f"{code.co_filename}:{code.co_firstlineno}"

        def named(*args: Any, **kwargs: Any) -> Hashable:
            return name, key(*args, **kwargs)

        return cast(Function, cached(_results, key=named, condition=_changed)(function))

    return decorate
