"""What tests in Chromium do and see on every page: drag, wait until all is drawn, ask axe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.chromium import PATIENCE

# Streamlit asks for its own addresses below a page's path first, when that is where one arrives.
AT_A_LINK = r" 404 .*\(http://[^/]+/[a-z-]+/_stcore/(health|host-config)\)$"
# What axe finds wrong with Streamlit's elements: st.caption and st.file_uploader.
STREAMLITS_OWN = {
    "color-contrast": "stCaption",
    "presentation-role-conflict": "stFileUploaderDropzone",
}
STILL = 400  # milliseconds in which nothing has moved


def at_rest(page: Page, charts: int = 1) -> None:
    """Wait until so many charts, all that the page has, show what Plotly holds."""
    expect(page.locator(".live-plot")).to_have_count(charts)
    expect(page.locator(".live-plot[data-state=rest]")).to_have_count(charts)


def settled(page: Page, states: Sequence[str] = ("rest",)) -> None:
    """Wait until the script has run to its end and no chart, nor its place, has moved for a while.

    What a script sends comes in order, its end last; a chart draws a moment after it is told.
    states: what the charts may be in then; none given, any.
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
    """Wait until `read` gives what is expected; fail with what it gave last."""
    for _ in range(PATIENCE // 100):
        if read() == expected:
            return
        page.wait_for_timeout(100)
    assert read() == expected


def graph(page: Page, ask: str) -> Any:
    """What a function of the first chart's Plotly graph gives, once Plotly has drawn it.

    A chart has painted cells, or none of its own, before plotly.js is there.
    """
    return page.locator(".live-plot .js-plotly-plot").first.evaluate(ask)


def painted(page: Page) -> int:
    """How many frames the first chart has painted."""
    return int(page.locator(".live-plot").first.get_attribute("data-painted") or 0)


def query(page: Page) -> dict[str, list[str]]:
    """What stands in the address bar."""
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
    """What axe finds, but for Streamlit's own elements."""
    # Streamlit lets Tab come to a block of code once it has measured that it scrolls.
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
