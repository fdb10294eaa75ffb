"""A server told to stop closes its sessions and exits within seconds, with status 0."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType

import uvicorn

PATIENCE_SECONDS = 3


def stop_gracefully(patience: int = PATIENCE_SECONDS) -> None:
    """On SIGTERM, close all connections, wait up to ``patience`` seconds for that, and exit.

    Uvicorn by itself waits as long as a sleeping browser fails to answer, and then ends the process
    by the same signal: functions registered with `atexit` are not called, and a supervisor can't
    tell a stop from a crash. Streamlit passes neither setting on, so the running server is found
    by its signal handler. Without one (in a test, or under another server) nothing
    changes. Call it early: `atexit` functions registered before it are skipped.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if not isinstance(server, uvicorn.Server):
        return
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = server.should_exit = True

    def leave() -> None:
        # A session's thread may be in the middle of a large matrix. Python ends such a thread on
        # its way out, torch's C++ doesn't survive that, and the process would abort.
        if stopping:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    server.config.timeout_graceful_shutdown = patience
    atexit.register(leave)
    signal.signal(signal.SIGTERM, stop)
