"""What a browser shows while plotly.js is on its way, and that it hears early what it will need."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from tests.on_screen import AT_A_LINK, at_rest, settled

pytestmark = pytest.mark.browser
PLACES = """Array.from(document.querySelectorAll(".live-plot-cells"), (cells) => {
  const { left, top, width, height } = cells.getBoundingClientRect()
  return [left, top, width, height]
})"""
COLOURS = 'Array.from(document.querySelectorAll(".live-plot canvas"), (cells) => cells.toDataURL())'


def hold_plotly(page: Page) -> list[Route]:
    """From now on, plotly.js waits in the list until its route is continued."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/plotly.min.js*", hold)
    return held


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "path",
    ["", "?length=2048&dimension=1024", "table", "attention", "compare"],
)
def test_cells_are_there_before_plotly_and_stay_where_they_are(app, new_page, path, width):
    page = new_page(tolerate=AT_A_LINK, viewport={"width": width, "height": 800})
    held = hold_plotly(page)
    page.goto(f"{app}/{path}")
    page.locator(".live-plot[data-state=early]").first.wait_for()
    settled(page, states=("early",))
    places, colours = page.evaluate(PLACES), page.evaluate(COLOURS)
    assert places
    expect(page.locator(".main-svg")).to_have_count(0)
    for route in held:
        route.continue_()
    settled(page)
    # The numbers beside a colour bar may take some pixels more than its margin has.
    assert np.abs(np.subtract(page.evaluate(PLACES), places)).max() <= 8
    if np.array_equal(page.evaluate(PLACES), places):
        assert page.evaluate(COLOURS) == colours


def test_a_chart_of_lines_waits_for_plotly(app, new_page):
    page = new_page(tolerate=AT_A_LINK)
    held = hold_plotly(page)
    page.goto(f"{app}/long-context")
    page.locator(".live-plot").first.wait_for()
    settled(page, states=())
    expect(page.locator(".live-plot[data-painted]")).to_have_count(0)
    for route in held:
        route.continue_()
    at_rest(page, charts=2)


def test_a_slider_moves_the_cells_before_plotly_is_there(app, page):
    held = hold_plotly(page)
    page.goto(f"{app}/")
    chart = page.locator(".live-plot[data-state=early]")
    chart.wait_for()
    before = page.evaluate(COLOURS)
    page.get_by_role("slider", name="Scale s").press("End")
    expect(page.locator(".live-plot-layer")).to_have_attribute("aria-label", re.compile("scale 5,"))
    page.wait_for_function(f"before => {COLOURS}[2] !== before", arg=before[2])
    assert page.evaluate(COLOURS)[0] == before[0], "e's colours stand still"
    early = page.evaluate(COLOURS)
    for route in held:
        route.continue_()
    at_rest(page)
    assert page.evaluate(COLOURS) == early


def test_the_first_answer_announces_scripts_and_plotly(app, new_page):
    page = new_page(tolerate=AT_A_LINK, cold=True)
    asked = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(app)))
    links = page.goto(f"{app}/attention").headers["link"]
    at_rest(page)
    ours = {
        url.split("?")[0] for url in asked if url.startswith("/assets/") and "/parts/" not in url
    }
    assert {"/assets/plotly.min.js"} < ours
    for url in ours:
        assert f"<{url}" in links
    for url in re.findall("<(.*?)>", links):
        assert page.request.get(f"{app}{url}").ok, f"{url} is announced, and not there"
