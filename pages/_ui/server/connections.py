"""Connections that ask for nothing don't keep others out: they end soon, the oldest ones first.

Those of sessions have a ping every few seconds, by which a proxy knows that the server lives.
Uvicorn waits for ever for the first request of a connection. Once no file descriptor is left, it
accepts nobody, and asyncio logs 2,048 tracebacks a second.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any, ClassVar

import uvicorn

if sys.platform != "win32":
    import resource

PATIENCE_SECONDS = 15
PING_SECONDS = 4  # so that a proxy need not wait long for a server that hangs
_MOST_DESCRIPTORS = 65_536
_HEADERS = 256 * 1024  # bytes of a request's head: a long link, and the same again as its referrer


def guard_connections(patience: float = PATIENCE_SECONDS) -> None:
    """Have the running server end connections that ask for nothing for ``patience`` seconds.

    Where there is no room for another one, the one that has waited longest makes room. Without a
    server of uvicorn's (in a test, or under another server) nothing changes. Call it before the
    port opens.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if isinstance(server, uvicorn.Server):
        config = server.config
        config.h11_max_incomplete_event_size = _HEADERS
        config.ws_ping_interval = PING_SECONDS
        limit = descriptors()
        spare = min(limit * 3 // 4, 8192)  # for files, and for those that are about to be ended
        # So many are accepted at once, a few times before the first of them makes another leave.
        config.backlog = min(config.backlog, spare // 16)
        config.http_protocol_class = guarded(config.http_protocol_class, limit - spare, patience)


def guarded(protocol: Any, most: int, patience: float) -> Any:  # noqa: C901  (it is a class)
    """A class of uvicorn's for connections, with at most so many of them, and an end to waiting."""

    class Guarded(protocol):  # type: ignore[misc]
        waiting: ClassVar[dict[Any, None]] = {}  # those without a request, the oldest first
        timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            if len(self.connections) > most:
                next(iter(self.waiting), self).transport.abort()
            self.rest()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            # A websocket has a protocol of its own.
            if self.transport.get_protocol() is not self or not _is_idle(self):
                self.work()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if _is_idle(self) and not self.transport.is_closing():
                self.rest()

        def connection_lost(self, error: Exception | None) -> None:
            self.work()
            super().connection_lost(error)

        def rest(self) -> None:
            """It asks for nothing now: give it a while."""
            self.work()
            self.waiting[self] = None
            self.timer = self.loop.call_later(patience, self.transport.abort)

        def work(self) -> None:
            """It has asked for something, or is gone."""
            self.waiting.pop(self, None)
            if self.timer is not None:
                self.timer.cancel()

    return Guarded


def descriptors() -> int:
    """How many file descriptors this process may have; as many as it is allowed are asked for."""
    if sys.platform == "win32":
        return _MOST_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def _is_idle(connection: Any) -> bool:
    return connection.cycle is None or bool(connection.cycle.response_complete)
