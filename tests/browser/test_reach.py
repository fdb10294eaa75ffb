"""What holds on every page: axe, keyboard, narrow screens and zoom, no other host, less motion."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages._ui.lessons.files import lessons
from pages._ui.site import FOLDER, PAGES, SitePage
from tests.on_screen import AT_A_LINK, barriers, graph, settled

pytestmark = pytest.mark.browser

HERE = [pytest.param(page, id=page.path) for page in PAGES if (FOLDER / page.file).exists()]
# A projector, a 1280 × 900 window at 200 % zoom, a phone.
SCREENS = ((1024, 768), (640, 450), (390, 844))


def visit(page: Page, app: str, where: SitePage) -> None:
    """Come from the landing page, as a visitor does, and wait until all is drawn."""
    page.goto(app)
    page.locator(".live-plot[data-state=rest]").first.wait_for()
    if where is not PAGES[0]:
        page.get_by_role("link", name=where.title, exact=True).click()
    if where.path == "lesson":
        expect(page.get_by_role("heading", name="Lessons")).to_be_visible()
        return
    page.wait_for_url(re.compile("" if where is PAGES[0] else where.path))
    page.locator(".live-plot[data-state=rest]").first.wait_for()
    settled(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", HERE)
def test_a_page_reaches_everybody(
    new_page: Callable[..., Page], app: str, where: SitePage, scheme: str
) -> None:
    page = new_page(color_scheme=scheme, reduced_motion="reduce", device_scale_factor=1)
    visit(page, app, where)
    assert barriers(page) == []
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{overflow} pixels too wide at {width} × {height}"


@pytest.mark.parametrize("where", HERE)
def test_a_page_asks_no_other_host_and_says_its_numbers(
    page: Page, app: str, where: SitePage
) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    visit(page, app, where)
    for folded in page.get_by_test_id("stExpander").all():
        folded.locator("summary").click()
    for popover in page.get_by_test_id("stPopover").all():
        popover.get_by_role("button").first.click()
        settled(page)
        page.keyboard.press("Escape")
    settled(page)
    assert hosts - {""} == {urlsplit(app).netloc}
    said = page.evaluate(
        "[...document.querySelectorAll('.live-plot [role=img]')].map((e) => e.ariaLabel)"
    )
    assert said or where.path == "lesson"
    assert [text for text in said if not re.search(r"\d", text or "")] == []
    # Nothing of ours moves by itself, whether motion is welcome or not.
    moving = page.evaluate(
        """[...document.querySelectorAll('.live-plot, .live-plot *, .stage, .stage *')]
             .filter((e) => getComputedStyle(e).animationName !== 'none').length"""
    )
    assert moving == 0


@pytest.mark.parametrize("where", HERE)
def test_every_control_of_a_page_is_reached_by_tab(page: Page, app: str, where: SitePage) -> None:
    visit(page, app, where)
    controls = page.evaluate(
        """() => { const found = []
             const widgets = ['stNumberInput', 'stSelectbox'].map((id) => `[data-testid=${id}]`)
             const arrows = ['[role=radiogroup]', ...widgets].join()
             const walk = (root) => { for (const e of root.querySelectorAll('*')) {
               if (e.shadowRoot) walk(e.shadowRoot)
               if (e.matches('button, input, select, textarea, a[href], summary') && !e.disabled
                   && e.checkVisibility({ visibilityProperty: true }) && e.tabIndex < 0
                   && !e.closest(arrows)) // arrow keys do what these buttons do
                 found.push(e.outerHTML.slice(0, 120)) } }
             walk(document.querySelector('[data-testid=stMain]'))
             return found }"""
    )
    assert controls == []


def popovers(page: Page) -> list[str]:
    """What stands on the buttons that open something on the page."""
    return [
        button.inner_text().split("\n")[0]
        for button in page.get_by_test_id("stPopover").get_by_role("button").all()
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", [one for one in HERE if one.id != "lesson"])
def test_what_opens_reaches_everybody(
    new_page: Callable[..., Page], app: str, where: SitePage, scheme: str
) -> None:
    page = new_page(color_scheme=scheme, reduced_motion="reduce", device_scale_factor=1)
    visit(page, app, where)
    names = popovers(page)
    assert {"Code", "Take away"} <= set(names)
    for name in names:
        page.get_by_test_id("stPopover").get_by_role("button", name=name, exact=True).click()
        body = page.get_by_test_id("stPopoverBody")
        body.wait_for()
        settled(page)
        assert barriers(page) == [], name
        # The same on a phone, where it must fit as well.
        page.set_viewport_size({"width": 390, "height": 844})
        settled(page)
        assert barriers(page) == [], f"{name} at 390 px"
        if body.is_visible():
            box = body.bounding_box()
            assert box["x"] >= 0, name
            assert box["x"] + box["width"] <= 390, name
        page.set_viewport_size({"width": 1280, "height": 900})
        page.keyboard.press("Escape")
        body.wait_for(state="detached")


def on_attention() -> list[tuple[str, dict[str, str]]]:
    """The links of all steps on that page, and of the page alone."""
    steps = [
        {**step.params, "lesson": f"{slug}.{number}"}
        for slug, lesson in lessons().items()
        for number, step in enumerate(lesson.steps, start=1)
        if step.page == "attention"
    ]
    return [(params.get("lesson", "alone"), params) for params in [{}, *steps]]


@pytest.mark.parametrize(("name", "params"), on_attention())
def test_a_projector_shows_attention_without_scrolling(
    new_page: Callable[..., Page], app: str, name: str, params: dict[str, str]
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": 1280, "height": 800})
    page.goto(f"{app}/attention?{urlencode({**params, 'present': 'true'})}")
    page.locator(".live-plot[data-state=rest]").first.wait_for()
    settled(page)
    bottom = graph(page, "(graph) => graph.getBoundingClientRect().bottom")
    assert bottom <= 800
    size = page.evaluate(
        "getComputedStyle(document.querySelector('.live-plot [class*=tick] text')).fontSize"
    )
    assert float(size.removesuffix("px")) >= 11
    if name != "alone":
        sentence = page.locator(".st-key-lesson").get_by_test_id("stMarkdown").nth(1)
        assert sentence.bounding_box()["y"] >= 0
