"""The server: all is loaded before the first visitor comes, and an error is one plain sentence.

Start it with ``streamlit run app.py``.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import logging
import pkgutil
import sys
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
import torch
from streamlit.logger import get_logger

import posembed_core
from pages import _ui as ui
from pages._ui import cached, live

ROOT = Path(__file__).parent
LOG = get_logger("posembed")
APOLOGY = (
    "This page could not be drawn with these settings: the error has been logged, "
    "and another setting or a reload takes you on."
)


def log(level: int, event: str, **fields: object) -> None:
    """One line ``event=… key=value …``; text is quoted as JSON does it, so a line stays a line."""
    words = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())
    LOG.log(level, "event=%s %s", event, " ".join(words))


def preload() -> None:
    """Import what the pages will need and compute what the landing page shows first."""
    posembed_core.encodings()
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        importlib.import_module(module.name)
    cached.preload()


def return_freed_memory() -> None:
    """Have glibc give blocks of 1 MB and more back to the system as soon as they are freed.

    Its own threshold grows to 32 MB with use: then the pieces of large matrices stay in each
    session thread's heap, and after a few pictures of 8192 × 4096 the process holds twice what it
    needs (1,494 MB against 682 MB, measured).
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        m_mmap_threshold = -3  # malloc.h
        libc.mallopt(m_mmap_threshold, 2**20)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Get ready before the port opens."""
    start = time.perf_counter()
    return_freed_memory()
    # A visitor's computation takes one core, so that many visitors share all of them.
    torch.set_num_threads(1)
    preload()
    # Streamlit collects garbage after every run; what lives as long as the server is not worth
    # a look each time (100 ms with torch loaded).
    gc.collect()
    gc.freeze()
    log(logging.INFO, "ready", preload_s=round(time.perf_counter() - start, 3))
    yield
    log(logging.INFO, "stopped")


def frames(error: BaseException) -> list[str]:
    """``file:line function`` from outermost to innermost, without Streamlit's own frames."""
    return [
        f"{Path(frame.filename).as_posix().removeprefix(f'{ROOT.as_posix()}/')}"
        f":{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "/streamlit/" not in Path(frame.filename).as_posix()
    ]


def report_script_error(error: Exception) -> bool:
    """Log where a page failed and tell the visitor so in one sentence.

    Neither the exception's message nor the URL's query is logged: both may hold what a visitor
    typed. ``--logger.level debug`` adds Streamlit's full traceback.

    Returns:
        True, which keeps Streamlit from drawing the exception.
    """
    page = urlsplit(st.context.url or "").path or "/"
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    log(logging.ERROR, "script_error", page=page, error=name, frames=frames(error))
    st.error(APOLOGY)
    return True


def hides_visitors_text(record: logging.LogRecord) -> bool:
    """False for Streamlit's own report of a script error, unless the level is debug."""
    return record.msg != "Uncaught app execution" or LOG.isEnabledFor(logging.DEBUG)


logging.getLogger("streamlit.error_util").addFilter(hides_visitors_text)

app = st.App(
    "pages/navigation.py",
    lifespan=lifespan,
    routes=live.routes(),
    on_script_error=report_script_error,
)
