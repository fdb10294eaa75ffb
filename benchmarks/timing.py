"""Comparing functions fairly: by turns, in one process, the median of several rounds."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median

Work = Callable[[], object]


def alternate(
    works: Mapping[str, Work], rounds: int, least_seconds: float = 0.02
) -> dict[str, float]:
    """Seconds of one call of each, the median over rounds in which each had its turn.

    A turn repeats a call until it lasts `least_seconds`: the clock's resolution doesn't matter.
    """
    repeats = {name: _repeats(work, least_seconds) for name, work in works.items()}
    seconds: dict[str, list[float]] = {name: [] for name in works}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, work in works.items():
                seconds[name].append(_clock(work, repeats[name]))
    finally:
        gc.enable()
    return {name: median(values) for name, values in seconds.items()}


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of all lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _repeats(work: Work, least: float) -> int:
    work()  # caches, lazy imports
    once = _clock(work, 1)
    return max(1, round(least / max(once, 1e-9)))


def _clock(work: Work, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats
