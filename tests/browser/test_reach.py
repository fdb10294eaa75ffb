"""What holds on every page: axe, keyboard, narrow screens and zoom, no other host, less motion."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages._ui.lessons.files import lessons
from pages._ui.site import FOLDER, PAGES, SitePage
from tests.on_screen import AT_A_LINK, barriers, graph, settled

pytestmark = pytest.mark.browser

HERE = [page for page in PAGES if (FOLDER / page.file).exists()]
SMALL = "max_seq_len=32&embed_dim=16&num_tokens=8&batch_size=4"
# The pages, then their other views.
VIEWS = [
    *("" if page is PAGES[0] else page.path for page in HERE),
    *(f"table?{SMALL}&view={view}" for view in ("lookup", "gradient", "compare", "measures")),
    *(f"attention?view={view}" for view in ("shuffle", "shift", "four", "distance")),
    "attention?cell=2_2_5",
]
THEMES = ("light", "dark")
# A desktop, a projector, a window of 1280 × 900 at 200 % zoom, a phone.
DESKTOP, PROJECTOR, ZOOMED, PHONE = SCREENS = ((1280, 900), (1024, 768), (640, 450), (390, 844))


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


def open_link(page: Page, app: str, link: str) -> None:
    """Go to a page's link, and wait until all is drawn."""
    page.goto(f"{app}/{link}")
    arrive(page, link == "lesson")


def arrive(page: Page, at_lessons: bool) -> None:
    if at_lessons:
        expect(page.get_by_role("heading", name="Lessons")).to_be_visible()
    else:
        page.locator(".live-plot[data-state=rest]").first.wait_for()
    settled(page)


def too_wide(page: Page) -> list[float]:
    """How many pixels the page, then each chart, reaches over the window's right edge."""
    reach = page.evaluate(
        """[document.documentElement.scrollWidth, ...Array.from(
             document.querySelectorAll('.live-plot'), (e) => e.getBoundingClientRect().right)]
             .map((right) => right - innerWidth)"""
    )
    return [pixels for pixels in reach if pixels > 0]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view or "combine")
def test_a_view_reaches_everybody(new_page: Callable[..., Page], app: str, view: str) -> None:
    page = new_page(tolerate=AT_A_LINK, reduced_motion="reduce")
    open_link(page, app, view)
    for screen, theme in itertools.product(SCREENS, THEMES):
        resize(page, screen)
        page.emulate_media(color_scheme=theme)
        settled(page)
        assert too_wide(page) == [], f"{screen}, {theme}"
        if screen is not ZOOMED:
            assert barriers(page) == [], f"{screen}, {theme}"


LINK = "lesson=handbook-injection.3"


@pytest.mark.parametrize(
    "link", [*(f"{page.path}?present=true" for page in HERE[1:]), "?present=true", f"?{LINK}",
             f"?{LINK}&present=true"],
)  # fmt: skip
def test_projector_and_lesson_reach_everybody(
    new_page: Callable[..., Page], app: str, link: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, reduced_motion="reduce")
    page.goto(f"{app}/{link}")
    arrive(page, link.startswith("lesson?"))
    for screen, theme in itertools.product((DESKTOP, ZOOMED, PHONE), THEMES):
        resize(page, screen)
        page.emulate_media(color_scheme=theme)
        settled(page)
        assert barriers(page) == [], f"{screen}, {theme}"
        assert too_wide(page) == [], f"{screen}, {theme}"


def popovers(page: Page) -> list[str]:
    """What stands on the buttons that open something on the page."""
    return [
        button.inner_text().split("\n")[0]
        for button in page.get_by_test_id("stPopover").get_by_role("button").all()
    ]


@pytest.mark.parametrize("site_page", HERE[:-1], ids=lambda page: page.path)
def test_what_opens_reaches_everybody(
    new_page: Callable[..., Page], app: str, site_page: SitePage
) -> None:
    page = new_page(tolerate=AT_A_LINK, reduced_motion="reduce")
    open_link(page, app, "" if site_page is PAGES[0] else site_page.path)
    names = popovers(page)
    assert {"Code", "Take away"} <= set(names)
    for name in names:
        page.get_by_test_id("stPopover").get_by_role("button", name=name, exact=True).click()
        body = page.get_by_test_id("stPopoverBody")
        body.wait_for()
        if name == "Code":
            body.get_by_test_id("stCode").locator("code").first.wait_for()
        # On a phone it must fit as well.
        for screen, theme in itertools.product((DESKTOP, PHONE), THEMES):
            resize(page, screen)
            page.emulate_media(color_scheme=theme)
            settled(page)
            assert barriers(page) == [], f"{name}, {screen}, {theme}"
            if screen is PHONE and body.is_visible():
                box = body.bounding_box()
                assert box["x"] >= 0, name
                assert box["x"] + box["width"] <= 390, name
        resize(page, DESKTOP)
        page.keyboard.press("Escape")
        body.wait_for(state="detached")


def test_a_walk_through_the_menu(new_page: Callable[..., Page], app: str) -> None:
    """No other host is asked, every control is reached by Tab, pictures say their numbers."""
    page = new_page(cold=True)
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.goto(app)
    for site_page in HERE:
        if site_page is not PAGES[0]:
            page.get_by_role("link", name=site_page.title, exact=True).click()
            page.wait_for_url(re.compile(site_page.path))
        arrive(page, site_page.path == "lesson")
        assert out_of_reach(page) == [], site_page.title
        open_all(page)
        assert hosts - {""} == {urlsplit(app).netloc}, site_page.title
        told = page.evaluate(
            "[...document.querySelectorAll('.live-plot [role=img]')].map((e) => e.ariaLabel)"
        )
        assert told or site_page.path == "lesson"
        assert [text for text in told if not re.search(r"\d", text or "")] == []
        # Nothing of ours moves by itself, whether motion is welcome or not.
        moving = page.evaluate(
            """[...document.querySelectorAll('.live-plot, .live-plot *, .stage, .stage *')]
                 .filter((e) => getComputedStyle(e).animationName !== 'none').length"""
        )
        assert moving == 0, site_page.title


def out_of_reach(page: Page) -> list[str]:
    """The controls of the page that neither Tab nor the arrow keys come to."""
    return page.evaluate(
        """() => { const missed = []
             const widgets = ['stNumberInput', 'stSelectbox'].map((id) => `[data-testid=${id}]`)
             const arrows = ['[role=radiogroup]', ...widgets].join()
             const walk = (root) => { for (const e of root.querySelectorAll('*')) {
               if (e.shadowRoot) walk(e.shadowRoot)
               if (e.matches('button, input, select, textarea, a[href], summary') && !e.disabled
                   && e.checkVisibility({ visibilityProperty: true }) && e.tabIndex < 0
                   && !e.closest(arrows)) // arrow keys do what these buttons do
                 missed.push(e.outerHTML.slice(0, 120)) } }
             walk(document.querySelector('[data-testid=stMain]'))
             return missed }"""
    )


def open_all(page: Page) -> None:
    """Open what is folded, and each popover for a while."""
    for folded in page.get_by_test_id("stExpander").all():
        folded.locator("summary").click()
    for popover in page.get_by_test_id("stPopover").all():
        popover.get_by_role("button").first.click()
        settled(page)
        page.keyboard.press("Escape")
    settled(page)


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
    open_link(page, app, f"attention?{urlencode({**params, 'present': 'true'})}")
    bottom = graph(page, "(graph) => graph.getBoundingClientRect().bottom")
    assert bottom <= 800
    size = page.evaluate(
        "getComputedStyle(document.querySelector('.live-plot [class*=tick] text')).fontSize"
    )
    assert float(size.removesuffix("px")) >= 11
    if name != "alone":
        sentence = page.locator(".st-key-lesson").get_by_test_id("stMarkdown").nth(1)
        assert sentence.bounding_box()["y"] >= 0
