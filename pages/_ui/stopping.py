"""A server told to stop closes its sessions and has ended seconds later, with status 0."""

from __future__ import annotations

import signal
from types import FrameType

import uvicorn

PATIENCE_SECONDS = 3


def stop_gracefully(patience: int = PATIENCE_SECONDS) -> None:
    """On SIGTERM, close all connections, wait ``patience`` seconds for their ends, and return.

    Uvicorn by itself waits for as long as a browser that sleeps doesn't answer, and then ends the
    process by the same signal: neither are the functions registered with `atexit` called, nor can a
    supervisor tell a stop from a crash. Streamlit passes neither setting on, so the server that is
    running is found by its signal handler. Without one (in a test, or under another server) nothing
    changes.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if not isinstance(server, uvicorn.Server):
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    server.config.timeout_graceful_shutdown = patience
    signal.signal(signal.SIGTERM, stop)
