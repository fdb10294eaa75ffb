"""Bounds that hold when many sessions want large pictures at once."""

import json
import subprocess
import sys
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[3]

# Threads for sessions, each with its own settings; then every picture again, evicted by then.
SCRIPT = """
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from pages._ui.server.matrices import MATRICES
from pages._ui.server.pictures import PICTURES, picture, preload
from pages._ui.server.setting import RandomTokens, Setting
from pages._ui.server import heap
from posembed_core import combine, create, random_tokens
from posembed_core.pictures.resolution import choose

sessions, length, dimension = map(int, sys.argv[1:])
heap.set_thresholds()
torch.set_num_threads(1)
preload()

def most():
    # Not ru_maxrss, which begins with what the process had that started this one.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

before = most()
started = threading.Barrier(sessions)
held = []

def setting(i):
    # Each an own size, seed and base: no matrix is shared.
    width = dimension - 2 * i
    encoding = create("sinusoidal", embed_dim=width, base=10000.0 + i)
    return Setting(RandomTokens(seed=i), length, width, encoding)

def visit(i):
    started.wait()
    shown = picture(setting(i))
    frame = shown.preview.frame(0.5)
    shown.pack(frame)
    held.append(MATRICES.size + PICTURES.size)
    return frame, shown.preview.exact(7, 0.5).combined

with ThreadPoolExecutor(sessions) as pool_of_threads:
    seen = list(pool_of_threads.map(visit, range(sessions)))
peak = most()

wrong = 0
for i in range(0, sessions, max(1, sessions // 6)):
    asked, (frame, row) = setting(i), seen[i]
    tokens = random_tokens(length, asked.dimension, seed=i)
    whole = combine(tokens, asked.encoding, scale=0.5)
    preview = picture(asked).preview
    cells = choose(whole.combined, preview.rows, preview.columns)
    close = torch.allclose(frame.cells("combined"), cells, atol=1e-5)
    wrong += not (close and torch.allclose(row, whole.combined[7:8], atol=1e-6))
print(json.dumps({"before": before, "peak": peak, "wrong": wrong, "held": max(held),
                  "bound": MATRICES.limit + PICTURES.limit}))
"""


def crowd(sessions: int, length: int, dimension: int) -> dict[str, float]:
    """What this many sessions at once took, in megabytes (``held`` and ``bound`` in bytes)."""
    command = [sys.executable, "-c", SCRIPT, *map(str, (sessions, length, dimension))]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    answer: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return answer


def test_the_largest_sinusoid_takes_the_memory_of_its_tokens() -> None:
    # Its table would be another 134 MB, as large as the tokens.
    assert crowd(1, 8192, 4096)["peak"] <= 560


def test_a_crowd_of_large_settings_is_right_and_stays_within_bounds() -> None:
    # All matrices of all twelve at once would take 1,600 MB, plus what is computed from them.
    seen = crowd(sessions=12, length=4096, dimension=4096)
    assert seen["wrong"] == 0
    assert seen["held"] <= seen["bound"]
    assert seen["peak"] - seen["before"] < 1450


def test_what_a_session_owns_is_small() -> None:
    visit = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=120)
    visit.query_params["length"] = "4096"
    visit.query_params["dimension"] = "1024"
    visit.query_params["cell"] = "5_6"
    visit.run()
    assert not visit.exception
    # Matrices, pictures and figures belong to the server's bounded caches; a session owns only its
    # widgets' values and its link.
    owned = visit.session_state.to_dict()
    assert owned
    assert len(json.dumps(owned, default=plain)) < 20_000


def plain(thing: Any) -> Any:
    """An object that JSON doesn't know, as a dictionary."""
    return asdict(thing) if is_dataclass(thing) and not isinstance(thing, type) else dict(thing)


def test_the_first_visit_imports_next_to_nothing() -> None:
    # The garbage collector scans whatever is imported after its freeze again and again.
    script = f"""
import sys
import app
app.preload()
from streamlit.testing.v1 import AppTest
before = set(sys.modules)
visit = AppTest.from_file({str(ROOT / "pages" / "navigation.py")!r}, default_timeout=120).run()
assert not visit.exception
print(*(set(sys.modules) - before), sep="\\n")
"""
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    late = [name for name in run.stdout.split() if not name.startswith(("plotly.", "streamlit."))]
    assert len(late) < 30, sorted(late)
