"""The process apart: reads what strangers send, one thing after another, within limits.

`apart` starts it, as ``python -m pages._ui.server.reader CONNECTION CPU_SECONDS MEMORY``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# Imported before memory is limited, and before anybody waits.
from pages._ui.server import drawn, heap, tables

MOST_OF_A_SENTENCE = 2_000  # characters; a name in a file may have megabytes
_READERS = (drawn, tables)


def serve(connection: Connection, cpu_seconds: int) -> None:
    """Answer until the other end is closed."""
    connection.send_bytes(b"ready")
    while True:
        try:
            reader, args = connection.recv()  # pickled by the server, of functions and settings
            data = connection.recv_bytes()
        except EOFError:
            return
        _limit_cpu(cpu_seconds)
        numbers: memoryview | bytes = b""
        answer: tuple[str, Any]
        try:
            result, numbers = reader(data, *args)
            answer = "read", result
        except ValueError as error:
            answer = "refused", str(error)[:MOST_OF_A_SENTENCE]
        except MemoryError:
            os._exit(1)  # nothing is sure any more
        except Exception as error:  # noqa: BLE001, the server reports it, without any text
            answer = "failed", f"{type(error).__name__} in {reader.__name__}"
        connection.send_bytes(json.dumps(answer).encode())
        if answer[0] == "read":
            connection.send_bytes(memoryview(numbers).nbytes.to_bytes(8, "little"))
            connection.send_bytes(numbers)
        result = None
        del data, numbers
        heap.trim()  # the next file has all the memory there is


def _limit_cpu(seconds: int) -> None:
    """Have the system end this process after ``seconds`` more, and a second that it rounds up."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def _limit_memory(beyond: int) -> None:
    """Let this process have ``beyond`` bytes of addresses more than it has now."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    statm = Path("/proc/self/statm")
    if statm.exists():  # elsewhere than on Linux, time is the only limit
        now = int(statm.read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + beyond, now + beyond))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, whose end ends this
    number, seconds, memory = map(int, sys.argv[1:])
    heap.set_thresholds()
    _limit_memory(memory)
    serve(Connection(number), seconds)
