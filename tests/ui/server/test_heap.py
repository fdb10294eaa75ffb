"""Freed memory goes back to the system."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

# A thread like a session's fills its heap with small pieces; the last one outlives the others.
THREAD = """
import re
import threading
from pathlib import Path

import torch

from pages._ui.server import heap

def resident():
    return int(re.search(r"VmRSS:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

def work():
    pieces = [torch.zeros(60, 2048) for _ in range(100)]  # 0.5 MB each
    kept.append(pieces.pop())

kept = []
heap.set_thresholds()
before = resident()
thread = threading.Thread(target=work)
thread.start()
thread.join()
after = resident()
heap.trim()
print(after - before, resident() - before)
"""

# The server's own start and stop (without metrics, which need Streamlit's runtime), around a trim
# that only reports its calls.
SERVER = """
import asyncio
import threading

import app
from pages._ui.server import heap

async def serve():
    called = threading.Event()
    heap.trim, heap._EVERY = called.set, 0.01
    app.metrics.register = lambda: None
    async with app.lifespan(app.app):
        for _ in range(2):  # and again
            assert await asyncio.to_thread(called.wait, 60)
            called.clear()
    await asyncio.sleep(0.1)
    called.clear()
    await asyncio.sleep(0.1)
    print(called.is_set())

asyncio.run(serve())
"""


def printed(script: str) -> str:
    """The output of a separate process that runs this code."""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


def test_memory_that_is_free_below_something_small_is_given_back() -> None:
    kept, left = map(float, printed(THREAD).split())
    assert kept > 40, "glibc gives it back by itself: `trim` isn't needed any more"
    assert left < 10


def test_a_server_trims_again_and_again_until_it_stops() -> None:
    assert printed(SERVER).split()[-1] == "False"
