"""Chromium pages, and the moment when a slider's effect has been painted in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DEBIAN_CHROMIUM = Path("/usr/bin/chromium")

# window.bench: when a key was pressed, when its first change was on the screen, and the count of
# changes. A chart's canvas changes inside an animation frame, so the next task finds it painted.
# Text and Plotly's images change in any task; the task after the next frame finds them painted.
WATCH = """([selector, filter, inFrame]) => {
  const bench = (window.bench = { frames: 0, pressed: null, painted: null })
  const later = new MessageChannel()
  later.port1.onmessage = () => (bench.painted ??= performance.now())
  const soon = () => later.port2.postMessage(0)
  document.addEventListener("keydown", ({ timeStamp }) => {
    Object.assign(bench, { pressed: timeStamp, painted: null })
  }, true)
  let changed = false
  const count = () => {
    changed = false
    bench.frames++
    if (bench.pressed !== null && bench.painted === null) soon()
  }
  new MutationObserver((records) => {
    const element = (node) => (node.nodeType === 1 ? node : node.parentElement)
    const hit = ({ target }) => element(target)?.closest(selector)
    if (!records.some(hit) || changed) return
    changed = true
    inFrame ? count() : requestAnimationFrame(count)
  }).observe(document.body, {
    subtree: true, attributes: true, attributeFilter: filter,
    characterData: !inFrame, childList: !inFrame,
  })
}"""


@dataclass(frozen=True)
class Kind:
    """How a page shows that it has drawn. at_rest: what is on it once nothing is going on."""

    selector: str
    attributes: tuple[str, ...]
    in_frame: bool
    at_rest: str


LIVE = Kind(".live-plot", ("data-painted",), True, ".live-plot[data-state=rest]")
TEXT = Kind("[data-testid=stText]", ("data-none",), False, "[data-testid=stText]")
CHART = Kind(".heatmaplayer", ("href", "xlink:href"), False, ".heatmaplayer image")


class Watched:
    """A page of one kind that counts what it paints."""

    def __init__(self, browser: Browser, url: str, kind: Kind) -> None:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.page: Page = context.new_page()
        self.kind = kind
        self.page.goto(url)
        self.page.locator(kind.at_rest).first.wait_for(timeout=120_000)
        self.page.evaluate(WATCH, [kind.selector, list(kind.attributes), kind.in_frame])

    def slider(self, index: int = 2) -> Locator:
        """The page's slider number `index`; 2 is the scale."""
        return self.page.locator("input[type=range]").nth(index)

    def rest(self) -> None:
        """Wait until nothing is going on."""
        self.page.locator(self.kind.at_rest).first.wait_for(timeout=120_000)
        self.page.locator("[data-test-script-state=notRunning]").first.wait_for(timeout=120_000)
        self.page.wait_for_timeout(700)

    def press(self, key: str) -> float:
        """Press a key on the scale; milliseconds until its effect is on the screen."""
        self.page.bring_to_front()
        self.slider().focus()
        self.rest()
        self.page.keyboard.press(key)
        self.page.wait_for_function("bench.painted !== null", timeout=120_000, polling=50)
        return float(self.page.evaluate("bench.painted - bench.pressed"))

    def frames(self) -> int:
        """How often it has painted since it was opened."""
        return int(self.page.evaluate("bench.frames"))


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium where it is installed, else Playwright's own."""
    with sync_playwright() as playwright:
        path = DEBIAN_CHROMIUM if DEBIAN_CHROMIUM.exists() else None
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
