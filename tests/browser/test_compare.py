"""The comparison in Chromium: bars and links as they are seen, a way on by click and keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages._ui.compare.groups import combine_link, one_of_each
from tests.on_screen import AT_A_LINK, at_rest, query, settled

pytestmark = pytest.mark.browser

# Everything of ours with its left and right edge: words of the chart, its links, cells, the facts.
EDGES = """[...document.querySelectorAll(
  '.live-plot svg text, .live-plot a, .live-plot canvas, .compare-facts, .compare-facts td')]
  .map((e) => [e.textContent || e.tagName, e.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.left < 0 || box.right > innerWidth))
  .map(([name, box]) => [name, box.left, box.right])"""
# The texts that overlap another text of the chart.
COLLIDING = """(() => { const all = [...document.querySelectorAll('.live-plot svg text')]
    .map((e) => [e.textContent, e.getBoundingClientRect()])
  const hits = []
  for (const [i, [a, p]] of all.entries()) for (const [b, q] of all.slice(i + 1))
    if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2
        && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) hits.push([a, b])
  return hits })()"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("view", ["picture", "similarity"])
def test_all_is_in_the_window_and_every_picture_has_its_bar(
    new_page: Callable[..., Page], app: str, width: int, view: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": width, "height": 844})
    page.goto(f"{app}/compare?view={view}")
    at_rest(page)
    settled(page)
    assert page.evaluate(EDGES) == []
    assert page.evaluate(COLLIDING) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    pictures = len(one_of_each())
    expect(page.locator(".live-plot canvas")).to_have_count(pictures)
    expect(page.locator(".live-plot .colorbar")).to_have_count(pictures)
    ends = page.evaluate(
        """[...document.querySelectorAll('.live-plot .colorbar')]
             .map((bar) => [...bar.querySelectorAll('.cbaxis text')].length)"""
    )
    alike = 1  # no position at all: one value in the middle
    assert sorted(ends) == [1] * alike + [2] * (pictures - alike)


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_on_a_projector_nothing_collides(
    new_page: Callable[..., Page], app: str, size: tuple[int, int]
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": size[0], "height": size[1]})
    page.goto(f"{app}/compare?present=true")
    at_rest(page)
    settled(page)
    assert page.evaluate(COLLIDING) == []
    assert page.evaluate(EDGES) == []


def test_a_click_opens_the_encoding(new_page: Callable[..., Page], app: str) -> None:
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/compare?encodings=sinusoidal_alibi&length=32")
    at_rest(page)
    settled(page)
    page.locator(".live-plot .nsewdrag").nth(1).click()
    page.get_by_role("slider", name="Max length").wait_for()
    settled(page)
    assert query(page)["encoding"] == ["alibi"]
    assert query(page)["length"] == ["32"]


def test_a_link_under_a_picture_is_followed_by_keyboard(
    new_page: Callable[..., Page], app: str
) -> None:
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/compare?encodings=rope-yarn")
    at_rest(page)
    settled(page)
    page.locator(".live-plot a").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("slider", name="Max length").wait_for()
    settled(page)
    link = combine_link("rope-yarn", 64, 64, 1)
    asked = {name: [value] for name, value in link.items() if name != "dimension"}
    assert query(page) == asked
