"""Fixtures for tests in Chromium: one browser for all, and pages without console errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Frame,
    Page,
    expect,
    sync_playwright,
)

PATIENCE = 60_000  # milliseconds to wait before a test fails: a busy machine is not a fault
# Debian's, the first that is installed. The shell is the same browser without windows, menus and
# extensions: five first visits took it 14.0 s of processor time, and the whole one 17.9 s.
DEBIANS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Pages of one context share a process, which has compiled Streamlit's and Plotly's scripts.
    "--process-per-site",
]
SCREEN = {"width": 1280, "height": 900}
# Options that can be set on a page; any other needs a context of its own.
OF_A_PAGE = {"viewport", "color_scheme", "reduced_motion"}
STORED = "cookies,local_storage,indexeddb,cache_storage,service_workers"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium where it is installed, else Playwright's own."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        path = next((path for path in DEBIANS if path.exists()), None)
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def warm(browser: Browser) -> Iterator[Page]:
    """An empty page whose context keeps its HTTP cache, and its process, from test to test.

    Another page in it paints in half the processor time that a fresh browser needs: 3.4 MB of
    Streamlit and 4.7 MB of Plotly are neither fetched nor compiled again.
    """
    context = browser.new_context(viewport=SCREEN)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    # From the same site as all servers of these tests, hence in the same process.
    page.route("**", lambda route: route.fulfill(body=""))
    page.goto("http://127.0.0.1/")
    yield page
    context.close()


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
    """What arrives over the websocket of `page` and of the pages made by `new_page`."""
    return Traffic()


@pytest.fixture
def new_page(browser: Browser, warm: Page, traffic: Traffic) -> Iterator[Callable[..., Page]]:
    """new_page(**context options) → a page; the test fails on any error in its console.

    Nothing that an earlier test stored is left, but what it fetched is still in the HTTP cache.

    tolerate: a pattern; the test expects errors that have it in their text, or in the URL in
        brackets after the text.
    cold: in a browser that has not loaded the app before.
    """
    errors: list[str] = []
    origins: set[str] = set()
    with ExitStack() as closing:

        def tab(cold: bool, options: dict[str, object]) -> Page:
            if not cold and options.keys() <= OF_A_PAGE:
                page = warm.context.new_page()
                closing.callback(page.close)
                page.set_viewport_size(options.pop("viewport", SCREEN))
                page.emulate_media(**options)
                page.on("framenavigated", lambda frame: origins.add(origin(frame)))
                return page
            context = browser.new_context(**{"viewport": SCREEN, **options})
            closing.callback(context.close)
            context.set_default_timeout(PATIENCE)
            return context.new_page()

        def make(tolerate: str | None = None, cold: bool = False, **options: object) -> Page:
            page = tab(cold, options)

            def note(text: str) -> None:
                if tolerate is None or not re.search(tolerate, text):
                    errors.append(text)

            page.on("console", lambda m: note(told(m)) if m.type == "error" else None)
            page.on("pageerror", lambda error: note(str(error)))
            page.on("websocket", lambda socket: socket.on("framereceived", traffic.add))
            return page

        yield make
    if origins:
        forget(warm.context, warm, origins)
    assert not errors, f"the browser's console has errors: {errors}"


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1280 × 900 CSS pixels; the test fails on any error in its console."""
    return new_page()


def told(message: ConsoleMessage) -> str:
    """An error's text, and the URL that it concerns."""
    return f"{message.text} ({message.location['url']})"


def origin(frame: Frame) -> str:
    """A frame's origin, by which browsers keep storage apart."""
    scheme, host, *_ = urlsplit(frame.url)
    return f"{scheme}://{host}"


def forget(context: BrowserContext, page: Page, origins: set[str]) -> None:
    """Empty the storage of these origins, whose pages are closed."""
    session = context.new_cdp_session(page)
    for place in origins:
        session.send("Storage.clearDataForOrigin", {"origin": place, "storageTypes": STORED})
    session.detach()
