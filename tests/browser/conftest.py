"""Serves scripts to tests in Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ports import free_port

ROOT = Path(__file__).parents[2]
APP = ROOT / "app.py"
START_SECONDS = 60


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """serve(script, *options, **environment) → the URL of a Streamlit server running that script.

    Each script is started once per test session (and set of options), and stopped at its end.
    """
    running: dict[tuple[object, ...], tuple[subprocess.Popen[bytes], str]] = {}

    def start(script: Path, *options: str, **environment: str) -> str:
        name = (script, options, tuple(sorted(environment.items())))
        if name not in running:
            port = free_port()
            log = tmp_path_factory.mktemp("server") / "log"
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [
                        *(sys.executable, "-m", "streamlit", "run", str(script)),
                        f"--server.port={port}",
                        "--server.address=127.0.0.1",
                        "--server.headless=true",
                        "--server.fileWatcherType=none",
                        "--browser.gatherUsageStats=false",
                        *options,
                    ],
                    cwd=ROOT,
                    env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            url = f"http://127.0.0.1:{port}"
            running[name] = (process, url)
            _wait_for_health(url, process, log, options)
        return running[name][1]

    yield start
    for process, _ in running.values():
        process.terminate()
    for process, _ in running.values():
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="session")
def app(serve: Callable[..., str]) -> str:
    """The URL of the real app."""
    return serve(APP)


def _wait_for_health(
    url: str, process: subprocess.Popen[bytes], log: Path, options: tuple[str, ...]
) -> None:
    base = next((o.split("=", 1)[1] for o in options if o.startswith("--server.baseUrlPath=")), "")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            health = "/".join(part for part in (url, base.strip("/"), "_stcore/health") if part)
            with urllib.request.urlopen(health, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")
