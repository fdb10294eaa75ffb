"""A process that hangs ends itself and says where; one that is only busy doesn't."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pages._ui.server.watchdog import PATIENCE_SECONDS, patience_of

ROOT = Path(__file__).parents[3]
SCRIPT = """
import asyncio, re, time
from pages._ui.server.watchdog import keep_watch

def hold_the_lock():
    re.match("(a+)+$", "a" * 60 + "b")

def hold_the_loop():
    time.sleep(600)

async def main():
    watch = asyncio.create_task(keep_watch({patience}))
    {work}
    watch.cancel()

asyncio.run(main())
"""


def run(work: str, patience: float) -> subprocess.CompletedProcess[str]:
    """A process whose event loop does that work under a watch."""
    code = SCRIPT.format(patience=patience, work=work)
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("hang", ["hold_the_lock", "hold_the_loop"])
def test_what_hangs_ends_and_says_where(hang: str) -> None:
    run_of_it = run(f"await asyncio.sleep(0.1); {hang}()", 1.0)
    assert run_of_it.returncode == 1
    assert "Timeout" in run_of_it.stderr
    assert f" in {hang}" in run_of_it.stderr


def test_what_comes_round_goes_on() -> None:
    assert run("await asyncio.sleep(3)", 2.0).returncode == 0
    # Once it is over, nothing of it is left.
    assert (
        run("await asyncio.sleep(0); watch.cancel(); await asyncio.sleep(3)", 1.0).returncode == 0
    )
    assert run("await asyncio.sleep(0.1); time.sleep(2)", 0).returncode == 0


def test_the_operator_says_how_long() -> None:
    assert patience_of({}) == PATIENCE_SECONDS
    assert patience_of({"POSEMBED_HANG_SECONDS": ""}) == PATIENCE_SECONDS
    assert patience_of({"POSEMBED_HANG_SECONDS": "5"}) == 5
    assert patience_of({"POSEMBED_HANG_SECONDS": "0"}) == 0
    for text in ("-1", "soon", "nan", "inf"):
        with pytest.raises(ValueError, match="POSEMBED_HANG_SECONDS must be a number"):
            patience_of({"POSEMBED_HANG_SECONDS": text})
