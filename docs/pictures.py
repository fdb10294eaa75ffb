"""Take the documentation's screenshots from a running app: ``python docs/pictures.py [URL]``.

Without a URL the app is started for it. Needs what ``make setup`` installs.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PORT = 8599
STEP = "encoding=learned&length=10&at=0&lesson=handbook-combining.2"
# File name → path and query of the page, and the size of the window.
PICTURES = {
    "combine.png": ("/", (1280, 860)),
    "sentence.png": ("/?tokens=sentence&encoding=model", (1280, 960)),
    "lesson.png": (f"/?{STEP}", (1280, 860)),
    "presenter.png": (f"/?{STEP}&present=true", (1280, 860)),
}


@contextmanager
def server() -> Iterator[str]:
    """The app on a port of its own."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    process = subprocess.Popen([*command, f"--server.port={PORT}"], cwd=HERE.parent)  # noqa: S603
    url = f"http://localhost:{PORT}"
    try:
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health"):  # noqa: S310
                    break
            except OSError:
                time.sleep(0.25)
        yield url
    finally:
        process.terminate()
        process.wait()


def take(url: str) -> None:
    """Write every picture."""
    debian = Path("/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=debian if debian.exists() else None,
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name, (path, (width, height)) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(url + path)
            page.locator(".live-plot[data-state=rest]").first.wait_for(timeout=60_000)
            page.wait_for_timeout(1000)
            page.screenshot(path=HERE / name)
            page.close()
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        take(sys.argv[1])
    else:
        with server() as started:
            take(started)
