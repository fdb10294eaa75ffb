"""What tests in Chromium do on every page: drag, wait until all is drawn, ask axe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.chromium import PATIENCE

# Arriving at a page's path, Streamlit first asks for its own addresses below that path.
AT_A_LINK = r" 404 .*\(http://[^/]+/[a-z-]+/_stcore/(health|host-config)\)$"
# What axe finds wrong with Streamlit's elements: st.caption and st.file_uploader.
STREAMLITS_OWN = {
    "color-contrast": "stCaption",
    "presentation-role-conflict": "stFileUploaderDropzone",
}
STILL = 400  # milliseconds in which nothing has moved


def at_rest(page: Page, charts: int = 1) -> None:
    """Wait until this many charts, all that the page has, show what Plotly holds."""
    expect(page.locator(".live-plot")).to_have_count(charts)
    expect(page.locator(".live-plot[data-state=rest]")).to_have_count(charts)


def settled(page: Page, states: Sequence[str] = ("rest",)) -> None:
    """Wait until the script has ended and no chart has changed or moved for a while.

    A script's messages arrive in order, its end last; a chart draws a moment after its message.
    states: those that the charts may be in then; any, if none is given.
    """
    page.evaluate("delete window.wasSettled")
    page.wait_for_function(
        """([still, states]) => {
             const charts = [...document.querySelectorAll('.live-plot')]
             const running = !document.querySelector('[data-test-script-state=notRunning]')
             const now = JSON.stringify([running, location.href, innerWidth, charts.map((chart) => {
               const { x, y, width, height } = chart.getBoundingClientRect()
               return [chart.dataset.painted, chart.dataset.state, x, y, width, height] })])
             if (now !== window.wasSettled?.now) window.wasSettled = { now, since: Date.now() }
             const fits = ({ dataset }) => !states.length || states.includes(dataset.state)
             return !running && charts.every(fits)
               && Date.now() - window.wasSettled.since >= still }""",
        arg=[STILL, list(states)],
        polling=50,
    )


def eventually(page: Page, read: Callable[[], Any], expected: Any) -> None:
    """Wait until `read` gives the expected value; fail with the last one it gave."""
    for _ in range(PATIENCE // 100):
        if read() == expected:
            return
        page.wait_for_timeout(100)
    assert read() == expected


def graph(page: Page, ask: str) -> Any:
    """The value of a function of the first chart's Plotly graph, once Plotly has drawn it.

    Before plotly.js has loaded, a chart has its painted cells or nothing.
    """
    return page.locator(".live-plot .js-plotly-plot").first.evaluate(ask)


def painted(page: Page) -> int:
    """How many frames the first chart has painted."""
    return int(page.locator(".live-plot").first.get_attribute("data-painted") or 0)


def query(page: Page) -> dict[str, list[str]]:
    """The query in the address bar."""
    return parse_qs(urlsplit(page.url).query)


def drag(
    page: Page, index: int, start: float, end: float, steps: int = 25, release: bool = True
) -> None:
    """Press at one fraction of a slider's track, move to another, release there."""
    box = page.locator("input[type=range]").nth(index).bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, height)
    page.mouse.down()
    for step in range(1, steps + 1):
        at = start + (end - start) * step / steps
        page.mouse.move(box["x"] + box["width"] * at, height)
        page.wait_for_timeout(30)
    if release:
        page.mouse.up()


def barriers(page: Page) -> list[tuple[str, object, str]]:
    """What axe finds in all elements but Streamlit's own."""
    # Streamlit lets Tab reach a block of code once it has measured that the block scrolls.
    page.wait_for_function(
        """[...document.querySelectorAll('[data-testid=stCode] pre')].every((e) => e.tabIndex >= 0
             || (e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight))"""
    )
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    asked = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)"
    return [
        (violation["id"], node["target"], node["html"][:120])
        for violation in page.evaluate(asked)
        for node in violation["nodes"]
        if STREAMLITS_OWN.get(violation["id"], "\0") not in str(node["html"])
    ]
