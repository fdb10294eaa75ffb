"""Bytes of our own assets at the first visit, bytes of each frame, and the time to a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from benchmarks import servers
from benchmarks.browser import LIVE, TEXT, Watched, chromium
from benchmarks.drag import drag
from benchmarks.interaction import SIZES, query
from benchmarks.report import Section

OURS = "/assets/"  # what the app itself serves; everything else is Streamlit's front end
MB, KB = 1e6, 1e3


@dataclass
class Traffic:
    """Bytes over the wire, headers included, by path; and the websocket's messages."""

    paths: dict[str, float] = field(default_factory=dict)
    messages: list[int] = field(default_factory=list)
    _urls: dict[str, str] = field(default_factory=dict)

    def attach(self, page: Page) -> Traffic:
        client = page.context.new_cdp_session(page)
        client.send("Network.enable")
        client.on("Network.requestWillBeSent", self._asked)
        client.on("Network.loadingFinished", self._finished)
        client.on("Network.webSocketFrameReceived", self._received)
        return self

    def clear(self) -> None:
        self.paths.clear()
        self.messages.clear()

    def total(self, ours: bool) -> float:
        return sum(size for path, size in self.paths.items() if path.startswith(OURS) == ours)

    def _asked(self, event: dict[str, Any]) -> None:
        self._urls[event["requestId"]] = event["request"]["url"]

    def _finished(self, event: dict[str, Any]) -> None:
        path = urlsplit(self._urls.get(event["requestId"], "")).path
        self.paths[path] = self.paths.get(path, 0) + event["encodedDataLength"]

    def _received(self, event: dict[str, Any]) -> None:
        data = event["response"]["payloadData"]
        # The protocol gives binary messages in base64.
        self.messages.append(len(data) * 3 // 4 if event["response"]["opcode"] == 2 else len(data))


def run(quick: bool) -> Section:
    """First visit, second visit, frames of a drag; then how soon a picture appears."""
    section = Section("wire")
    with servers.serving(servers.APP) as app, chromium() as browser:
        visits(section, browser, app.url)
        for length, dimension in SIZES[:2] if quick else SIZES:
            frames(section, browser, f"{app.url}/?{query(length, dimension)}", (length, dimension))
    first_look(section, 1 if quick else 5)
    return section


def visits(section: Section, browser: Browser, url: str) -> None:
    """The landing page in a fresh browser, and again."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    traffic = Traffic().attach(page)
    sizes = []
    for _ in range(2):
        traffic.clear()
        page.goto(url)
        page.locator(LIVE.at_rest).wait_for(timeout=60_000)
        page.wait_for_timeout(1000)
        sizes.append((traffic.total(ours=True), traffic.total(ours=False), sum(traffic.messages)))
    (first, theirs, socket), (second, _, _) = sizes
    context.close()
    section.add(
        "first visit, our own assets",
        f"{first / MB:.2f} MB (besides: Streamlit's front end {theirs / MB:.1f} MB, "
        f"websocket {socket / KB:.0f} kB)",
        "≤ 3 MB",
        met=first <= 3 * MB,
    )
    section.add(
        "second visit, our own assets", f"{second / KB:.0f} kB", "cached", met=second < 10 * KB
    )


def frames(section: Section, browser: Browser, url: str, size: tuple[int, int]) -> None:
    """Websocket and HTTP together while the scale is dragged, by painted frame."""
    watched = Watched(browser, url, LIVE)
    traffic = Traffic().attach(watched.page)
    drag(watched, 0.5, seconds=0.5)
    watched.rest()
    traffic.clear()
    before = watched.frames()
    drag(watched, 0.7)
    watched.rest()
    frame = (sum(traffic.messages) + sum(traffic.paths.values())) / (watched.frames() - before)
    section.add(
        f"a frame of a dragged scale, {size[0]} × {size[1]}",
        f"{frame / KB:.0f} kB",
        "≤ 300 kB",
        met=frame <= 300 * KB,
    )


def first_look(section: Section, rounds: int) -> None:
    """A server that has just come up, a browser that has never been here."""
    painted, whole, floor = (
        "server up → first picture painted",
        "server up → the whole chart, axes and curves by plotly.js",
        "server up → Streamlit's own front end shows a line of text (the floor)",
    )
    kinds = {
        servers.APP: {painted: ".live-plot[data-painted]", whole: ".live-plot .main-svg"},
        servers.FLOOR: {floor: TEXT.at_rest},
    }
    seconds: dict[str, list[float]] = {painted: [], whole: [], floor: []}
    starts = []
    with chromium() as browser:
        for _ in range(rounds):
            for script, signs in kinds.items():
                with servers.serving(script) as app:
                    starts.append(app.start_seconds)
                    context = browser.new_context(viewport={"width": 1280, "height": 900})
                    page = context.new_page()
                    page.goto(app.url, wait_until="commit")
                    for name, selector in signs.items():
                        # Measured from the start of navigation, on the page's own clock.
                        seen = page.wait_for_function(
                            "sign => document.querySelector(sign) && performance.now()",
                            arg=selector,
                            timeout=60_000,
                        )
                        seconds[name].append(float(seen.json_value()) / 1e3)
                    context.close()
    middle = {name: median(values) for name, values in seconds.items()}
    section.add(
        painted,
        f"{middle[painted]:.2f} s (the server starts in {median(starts):.1f} s)",
        "≤ 2 s",
        met=middle[painted] <= 2,
        why=f"Streamlit's own front end, new to the browser, takes {middle[floor]:.2f} s to a line "
        "of text on these two cores",
    )
    section.add(whole, f"{middle[whole]:.2f} s")
    section.add(floor, f"{middle[floor]:.2f} s")
