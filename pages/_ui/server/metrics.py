"""The app's own figures beside Streamlit's under ``/_stcore/metrics``, in OpenMetrics format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from streamlit.runtime import Runtime
from streamlit.runtime.stats import CounterStat, GaugeStat, Stat

from pages._ui import live
from pages._ui.server import training_queue
from pages._ui.server.store import held_bytes, report

report("shelf", lambda: live.serving.shelf.size)  # here, since `live` knows nothing of the app

_STATM = Path("/proc/self/statm")  # on Linux only


def resident_bytes() -> int | None:
    """The memory this process holds right now; None where the system doesn't say."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _cache_bytes(family: str) -> list[Stat]:
    text = "What the caches that all visitors share hold."
    return [
        GaugeStat(family, size, {"cache": name}, "bytes", text)
        for name, size in held_bytes().items()
    ]


def _trainings(family: str) -> list[Stat]:
    text, load = "Training runs that somebody waits for.", training_queue.RUNS.load()
    return [GaugeStat(family, n, {"state": state}, "", text) for state, n in load.items()]


def _frames(family: str) -> list[Stat]:
    return [CounterStat(family, live.serving.sent.total[0], None, "", "Frames sent to charts.")]


def _frame_bytes(family: str) -> list[Stat]:
    size = live.serving.sent.total[1]
    return [CounterStat(family, size, None, "bytes", "What these frames weighed.")]


def _resident(family: str) -> list[Stat]:
    size = resident_bytes()
    text = "Memory that the process holds."
    return [] if size is None else [GaugeStat(family, size, None, "bytes", text)]


# The last name is the standard one that dashboards look for in any program.
_FAMILIES: dict[str, Callable[[str], list[Stat]]] = {
    "posembed_cache_bytes": _cache_bytes,
    "posembed_trainings": _trainings,
    "posembed_frames": _frames,
    "posembed_frame_bytes": _frame_bytes,
    "process_resident_memory_bytes": _resident,
}


class Metrics:
    """A provider of statistics as Streamlit's runtime asks for them."""

    @property
    def stats_families(self) -> Sequence[str]:
        """The names of all figures."""
        return tuple(_FAMILIES)

    def get_stats(self, family_names: Sequence[str] | None = None) -> Mapping[str, Sequence[Stat]]:
        """The figures asked for, all by default."""
        wanted = _FAMILIES if family_names is None else _FAMILIES.keys() & set(family_names)
        return {name: read(name) for name, read in _FAMILIES.items() if name in wanted}


def register() -> None:
    """Add the app's figures to those of the server that is starting."""
    Runtime.instance().stats_mgr.register_provider(Metrics())
