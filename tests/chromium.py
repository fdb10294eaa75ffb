"""Fixtures for tests in Chromium, one for all of them: a browser, pages without console errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

PATIENCE = 60_000  # milliseconds until what a test waits for must be there: being busy is no fault
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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium where it is installed, else Playwright's own."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
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
        context.set_default_timeout(PATIENCE)
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
