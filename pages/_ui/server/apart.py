"""What strangers send is read in a process apart, which may be lost: it has limits, and no state.

This is the server's side; `reader` is the other one. There is one such process, kept warm; whoever
has something to read waits for it. It holds no secret, and ends when the server does, however that
ends: its connection is closed then.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pages._ui.server.logs import log

CPU_SECONDS = 10  # for one file; a .safetensors of 64 MB is listed and loaded in 0.4 s in all
WALL_SECONDS = 60  # the same where other computations take its core
START_SECONDS = 120
MEMORY = 2**30  # bytes beyond those of the imported libraries; a table has at most 134 MB
MOST_SAID = 4 * 2**20  # bytes of what it says beside the numbers of a table
_ROOT = Path(__file__).parents[3]

# What a reader returns: something that JSON can hold, and numbers.
Read = tuple[Any, memoryview | bytes]


class RefusedError(ValueError):
    """What was sent can't be used; the message says in one sentence why."""


class _LostError(Exception):
    """The process died or gave no answer in time."""


class Apart:
    """A process that reads what strangers send, replaced when it is lost.

    It gets ``cpu_seconds`` and ``wall_seconds`` for each call and ``memory`` bytes in all.
    """

    def __init__(
        self,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self._limits = cpu_seconds, memory
        self._wall_seconds = wall_seconds
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._is_ready = False

    @property
    def pid(self) -> int | None:
        """The number of the process, None where there is none yet."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process, if there is none; returns at once."""
        with self._turn:
            self._start()

    def close(self) -> None:
        """End the process; the next call starts another one."""
        with self._turn:
            self._end()

    def read(
        self, reader: Callable[..., Read], data: bytes | memoryview, *args: str | int | None
    ) -> tuple[Any, bytearray]:
        """What ``reader(data, *args)`` returns in the process.

        ``reader`` is a module's function. Raises `RefusedError` where it raises `ValueError`, and
        where time or memory didn't suffice; `RuntimeError`, which names no text of a stranger, for
        any other error.
        """
        with self._turn:
            self._start()
            try:
                kind, facts, numbers = self._asked(reader, data, args)
            except BaseException as error:  # whatever it would still say belongs to nobody
                self._end()
                self._start()
                if not isinstance(error, _LostError):
                    raise
                log(logging.WARNING, "reader_lost", reader=reader.__name__)
                raise RefusedError(
                    "reading it takes more than the time or the memory that a file has here; "
                    "send what is needed of it alone"
                ) from None
        if kind == "read":
            return facts, numbers
        if kind == "refused":
            raise RefusedError(facts)
        raise RuntimeError(f"a reader failed: {facts}")

    def _asked(
        self, reader: Callable[..., Read], data: bytes | memoryview, args: tuple[Any, ...]
    ) -> tuple[str, Any, bytearray]:
        numbers = bytearray()
        try:
            connection = self._ready()
            connection.send((reader, args))
            connection.send_bytes(data)
            kind, facts = json.loads(self._answer(connection, self._wall_seconds))
            if kind == "read":
                size = int.from_bytes(self._answer(connection, self._wall_seconds), "little")
                numbers = bytearray(min(size, MEMORY))
                connection.recv_bytes_into(numbers)
        except (EOFError, OSError) as error:  # it died
            raise _LostError from error
        return kind, facts, numbers

    def _ready(self) -> Connection:
        connection = self._connection
        if connection is None:
            raise _LostError
        if not self._is_ready:
            self._answer(connection, START_SECONDS)
            self._is_ready = True
        return connection

    @staticmethod
    def _answer(connection: Connection, seconds: float) -> bytes:
        if not connection.poll(seconds):
            raise _LostError
        return connection.recv_bytes(MOST_SAID)

    def _start(self) -> None:
        if self._process and self._process.poll() is None:
            return
        self._end()
        ours, theirs = Pipe()
        arguments = map(str, (theirs.fileno(), *self._limits))
        self._process = subprocess.Popen(  # noqa: S603, a module of our own and numbers
            [sys.executable, "-m", "pages._ui.server.reader", *arguments],
            cwd=_ROOT,
            env={name: value for name, value in os.environ.items() if "SECRET" not in name},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        self._connection, self._is_ready = ours, False

    def _end(self) -> None:
        if self._connection:
            self._connection.close()
        if self._process:
            self._process.kill()
            self._process.wait()
        self._connection = self._process = None


APART = Apart()
