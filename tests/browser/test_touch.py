"""Fingers in Chromium, by real touch events: one scrolls, two zoom a chart, a slider does one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import CDPSession, Locator, Page

from tests.on_screen import AT_A_LINK, eventually, settled

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
SWIPE = 160  # pixels
SMALL = "max_seq_len=32&embed_dim=16&num_tokens=8&batch_size=4"
LINKS = ("", f"table?{SMALL}", "attention", "long-context")
Point = tuple[float, float]

RANGES = """() => [...document.querySelectorAll('.live-plot .js-plotly-plot')].map(
    ({ _fullLayout }) => Object.entries(_fullLayout)
      .filter(([name]) => /^[xy]axis[0-9]*$/.test(name)).map(([name, { range }]) => [name, range]))
"""
# The page scrolls in an element of Streamlit's.
SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop + scrollY"
# A place in each subplot, scrolled into the middle of the screen.
PLACE = """(index) => {
  const area = [...document.querySelectorAll('.live-plot .nsewdrag')][index]
  area.scrollIntoView({ block: 'center', behavior: 'instant' })
  const { x, y, width, height } = area.getBoundingClientRect()
  return [x + width / 2, y + height / 2]
}"""


def fingers(session: CDPSession, kind: str, points: Sequence[Point]) -> None:
    session.send(
        "Input.dispatchTouchEvent",
        {
            "type": kind,
            "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)],
        },
    )


def swipe(page: Page, start: Point, across: float, up: float) -> None:
    """Put a finger down, move it so many pixels to the right and upwards, lift it."""
    session = page.context.new_cdp_session(page)
    fingers(session, "touchStart", [start])
    for step in range(1, 11):
        fingers(
            session,
            "touchMove",
            [(start[0] + across * step / 10, start[1] - up * step / 10)],
        )
        page.wait_for_timeout(16)
    fingers(session, "touchEnd", [])


def on_a_phone(new_page: Callable[..., Page], link: str) -> Page:
    page = new_page(tolerate=AT_A_LINK, viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(link)
    page.locator(".live-plot .nsewdrag").first.wait_for(state="attached")
    settled(page)
    return page


@pytest.mark.parametrize("link", LINKS)
def test_a_swipe_over_a_chart_scrolls_and_zooms_nothing(
    new_page: Callable[..., Page], app: str, link: str
) -> None:
    page = on_a_phone(new_page, f"{app}/{link}")
    before = page.evaluate(RANGES)
    for index in range(page.locator(".live-plot .nsewdrag").count()):
        at = page.evaluate(PLACE, index)
        scrolled = page.evaluate(SCROLLED)
        up = SWIPE if scrolled < SWIPE else -SWIPE
        swipe(page, at, 0, up)
        page.wait_for_function(f"Math.abs({SCROLLED} - {scrolled}) > {SWIPE / 2}", timeout=5_000)
    settled(page)
    assert page.evaluate(RANGES) == before


def test_two_fingers_zoom_a_picture_and_not_the_page(
    new_page: Callable[..., Page], app: str
) -> None:
    page = on_a_phone(new_page, app)
    x, y = page.evaluate(PLACE, 0)
    session = page.context.new_cdp_session(page)
    ends = "document.querySelector('.live-plot .js-plotly-plot')._fullLayout.xaxis.range"
    low, high = page.evaluate(ends)
    scrolled = page.evaluate(SCROLLED)
    fingers(session, "touchStart", [(x - 20, y)])
    fingers(session, "touchStart", [(x - 20, y), (x + 20, y)])
    for step in range(1, 11):
        half = 20 + 2 * step
        fingers(session, "touchMove", [(x - half, y), (x + half, y)])
        page.wait_for_timeout(16)
    fingers(session, "touchEnd", [])
    settled(page)
    eventually(
        page,
        lambda: round((high - low) / abs(page.evaluate(f"{ends}[1] - {ends}[0]")), 1),
        2.0,
    )
    assert page.evaluate("visualViewport.scale") == 1
    assert page.evaluate(SCROLLED) == scrolled
    page.get_by_role("button", name="Reset zoom").tap()
    eventually(page, lambda: page.evaluate(ends), [low, high])


def on_the_way(slider: Locator) -> Point:
    box = slider.bounding_box()
    assert box is not None
    return box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2


def test_a_swipe_on_a_slider_scrolls_or_moves_it(new_page: Callable[..., Page], app: str) -> None:
    page = on_a_phone(new_page, app)
    slider = page.get_by_role("slider", name="Scale")
    start = on_the_way(slider)
    value = slider.get_attribute("aria-valuetext")
    scrolled = page.evaluate(SCROLLED)
    up = SWIPE if scrolled < SWIPE else -SWIPE
    swipe(page, start, 0, up)
    page.wait_for_function(f"Math.abs({SCROLLED} - {scrolled}) > {SWIPE / 2}", timeout=5_000)
    settled(page)
    assert slider.get_attribute("aria-valuetext") == value
    scrolled = page.evaluate(SCROLLED)
    swipe(page, on_the_way(slider), -SWIPE, 0)
    settled(page)
    assert slider.get_attribute("aria-valuetext") != value
    assert page.evaluate(SCROLLED) == scrolled
