"""The server: everything loads before the first visitor comes; an error is one plain sentence.

Start it with ``streamlit run app.py``.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import os
import pkgutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

# Set before torch is loaded. Each visitor's computation takes one core, so that visitors share the
# cores fairly. `torch.set_num_threads` alone is not enough: each run is a thread of its own, for
# which OpenMP would start more at the first square root (3 ms of CPU, more where cores are busy).
os.environ["OMP_NUM_THREADS"] = "1"

import streamlit as st

import posembed_core
from pages import _ui as ui
from pages._ui import live
from pages._ui.bounds import share
from pages._ui.server import (
    apart,
    connections,
    door,
    heap,
    logs,
    metrics,
    pictures,
    stopping,
    watchdog,
)

APOLOGY = (
    "This page could not be drawn with these settings: the error has been logged, "
    "and another setting or a reload takes you on."
)


def preload() -> None:
    """Import what the pages will need and compute what the landing page shows first."""
    posembed_core.encodings()
    # Otherwise Streamlit imports it when a page first draws: half a second for the first visitor,
    # and then 12 ms of garbage collection after each run, since it isn't frozen with the others.
    importlib.import_module("pandas")
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        importlib.import_module(module.name)
    pictures.preload()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Get ready before the port opens."""
    start = time.perf_counter()
    logs.tidy()
    apart.APART.start()  # so that it gets ready meanwhile
    connections.guard_connections()  # finds the server by the handler that the next one replaces
    stopping.stop_gracefully()
    metrics.register()
    heap.set_thresholds()
    live.serving.get_ready()
    preload()
    # Streamlit collects garbage after every run; freezing spares it from scanning what
    # lives as long as the server (100 ms each time with torch loaded).
    gc.collect()
    gc.freeze()
    logs.log(logging.INFO, "ready", preload_s=round(time.perf_counter() - start, 3))
    trimming = asyncio.create_task(heap.keep_trimmed())
    watching = asyncio.create_task(watchdog.keep_watch(watchdog.patience_of()))
    yield
    watching.cancel()
    trimming.cancel()
    apart.APART.close()
    logs.log(logging.INFO, "stopped")


def report_script_error(error: Exception) -> bool:
    """Log where a page failed and tell the visitor so in one sentence.

    Neither the exception's message nor the URL's query is logged: both may hold what a visitor
    typed. ``--logger.level debug`` adds Streamlit's full traceback.

    Returns:
        True, which keeps Streamlit from drawing the exception.
    """
    page = urlsplit(st.context.url or "").path or "/"
    logs.log(logging.ERROR, "script_error", page=page, **logs.error_fields(error))
    st.error(APOLOGY)
    return True


app = st.App(
    "pages/navigation.py",
    lifespan=lifespan,
    routes=live.serving.routes(shelf_bytes=share("shelf")),
    middleware=[*door.middleware(), *live.serving.middleware()],
    on_script_error=report_script_error,
)
