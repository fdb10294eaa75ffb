"""Memory that was freed is the system's again."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# A thread, as a session's is, fills its heap with small pieces; the last one outlives the others.
SCRIPT = """
import re
import threading
from pathlib import Path

import torch

from pages._ui import heap

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


def test_what_lies_free_below_something_small_is_given_back() -> None:
    command = [sys.executable, "-c", SCRIPT]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    kept, left = map(float, run.stdout.split())
    assert kept > 40, "glibc gives it back by itself: `trim` isn't needed any more"
    assert left < 10
