"""Fixtures for tests in Chromium: a served app, a browser, a page without console errors."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
DEBIAN_CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
            port = _free_port()
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium where it is installed, else Playwright's own."""
    with sync_playwright() as playwright:
        path = DEBIAN_CHROMIUM if DEBIAN_CHROMIUM.exists() else None
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


class Traffic:
    """The sizes, in bytes, of the websocket messages a page has received since `clear`."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def clear(self) -> None:
        self.sizes.clear()

    def add(self, payload: str | bytes) -> None:
        self.sizes.append(len(payload))


@pytest.fixture
def traffic() -> Traffic:
    """What the websocket of `page` (and of pages made by `new_page`) brings."""
    return Traffic()


@pytest.fixture
def new_page(browser: Browser, traffic: Traffic) -> Iterator[Callable[..., Page]]:
    """new_page(**context options) → a page; the test fails on any error in its console.

    tolerate: a text whose presence makes an error one that the test expects.
    """
    contexts = []
    errors: list[str] = []

    def make(tolerate: str | None = None, **options: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()

        def note(text: str) -> None:
            if tolerate is None or tolerate not in text:
                errors.append(text)

        page.on("console", lambda m: note(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: note(str(error)))
        page.on("websocket", lambda socket: socket.on("framereceived", traffic.add))
        return page

    yield make
    for context in contexts:
        context.close()
    assert not errors, f"the browser's console has errors: {errors}"


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1280 × 900 CSS pixels; the test fails on any error in its console."""
    return new_page()
