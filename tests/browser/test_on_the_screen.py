"""What is acted on is on the screen, together with the slider that moves it, in low windows too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import Page, expect

from tests.on_screen import AT_A_LINK, settled

pytestmark = pytest.mark.browser

LAPTOP, OLD_LAPTOP = {"width": 1366, "height": 657}, {"width": 1280, "height": 800}
PHONE, ZOOMED = {"width": 390, "height": 844}, {"width": 683, "height": 328}

# Tops and bottoms of the first chart's plots, and of every slider, in the window.
PLOTS = """() => [...document.querySelector('.live-plot').querySelectorAll('.nsewdrag')]
  .map((plot) => plot.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"""
SLIDERS = """() => [...document.querySelectorAll('*')]
  .map(({ shadowRoot }) => shadowRoot?.querySelector('.live')).filter(Boolean)
  .map((slider) => slider.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"""
TO_THE_CHART = """(lid) => {
  const page = document.querySelector('[data-testid=stMain]')
  page.scrollTop += document.querySelector('.live-plot').getBoundingClientRect().top - lid }"""

Spans = list[tuple[float, float]]

# How many rows of plots the first chart has that its sliders move.
MOVED = {
    "": 2,
    "?encoding=rope": 2,
    "?encoding=alibi": 2,
    "attention": 1,
    "attention?view=shift": 1,
    "attention?view=four": 1,
    "table?view=lookup": 2,
    "table?view=gradient": 2,
    "long-context": 1,
}


def rows_of(spans: Spans) -> Spans:
    """Plots side by side are one row; from above."""
    return sorted({(round(top), round(bottom)) for top, bottom in spans})


@pytest.mark.parametrize("link", MOVED)
def test_a_slider_and_what_it_moves_are_both_in_the_window(
    new_page: Callable[..., Page], app: str, link: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport=LAPTOP)
    page.goto(f"{app}/{link}")
    page.locator(".live-plot .nsewdrag").first.wait_for(state="attached")
    for size in (LAPTOP, OLD_LAPTOP):
        page.set_viewport_size(size)
        settled(page)
        moved = rows_of(page.evaluate(PLOTS))[: MOVED[link]]
        sliders = page.evaluate(SLIDERS)
        assert sliders
        assert len(moved) == MOVED[link]
        for top, bottom in (*moved, *sliders):
            assert 0 <= top < bottom <= size["height"], (moved, sliders, size)


def test_a_taller_window_has_taller_pictures(page: Page, app: str) -> None:
    heights = []
    for height in (657, 800, 1000):
        page.set_viewport_size({"width": 1280, "height": height})
        if not heights:
            page.goto(app)
            page.locator(".live-plot .nsewdrag").first.wait_for(state="attached")
        settled(page)
        rows = rows_of(page.evaluate(PLOTS))
        heights.append(sum(bottom - top for top, bottom in rows))
        assert rows[-1][1] <= height
    assert heights == sorted(set(heights))


@pytest.mark.parametrize("link", ["", "?encoding=rope", "?encoding=alibi"])
def test_on_a_phone_pictures_and_norms_stand_over_the_sliders(
    new_page: Callable[..., Page], app: str, link: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(f"{app}/{link}")
    page.locator(".live-plot .nsewdrag").first.wait_for(state="attached")
    settled(page)
    pictures, norms = rows_of(page.evaluate(PLOTS))
    sliders: Spans = page.evaluate(SLIDERS)
    assert len(page.evaluate(PLOTS)) == 4
    assert len(sliders) == 3
    # Of the norms' picture, what two lines of a bias's heading leave.
    assert pictures[1] < norms[0] < min(sliders)[0] - 40
    assert all(bottom <= PHONE["height"] + 1 for _, bottom in sliders)
    page.evaluate(TO_THE_CHART, 60)
    settled(page)
    for now, before in zip(page.evaluate(SLIDERS), sliders, strict=True):
        assert now == pytest.approx(before, abs=1)
    assert rows_of(page.evaluate(PLOTS))[1][1] < min(sliders)[0]


def test_at_a_zoom_of_200_percent_sliders_stay_under_the_pictures(
    new_page: Callable[..., Page], app: str
) -> None:
    page = new_page(viewport=ZOOMED, device_scale_factor=2)
    page.goto(app)
    page.locator(".live-plot .nsewdrag").first.wait_for(state="attached")
    settled(page)
    page.evaluate(TO_THE_CHART, 60)
    settled(page)
    pictures, _ = rows_of(page.evaluate(PLOTS))
    sliders: Spans = page.evaluate(SLIDERS)
    assert pictures[0] >= 60
    for (top, _), (_, bottom) in product([pictures], sliders):
        assert bottom <= ZOOMED["height"] + 1
        assert min(sliders)[0] - top >= 100


def test_on_a_phone_settings_are_behind_one_button(new_page: Callable[..., Page], app: str) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport=PHONE, has_touch=True, is_mobile=True)
    button = page.locator(".page-settings summary")
    fields = "[data-testid=stSelectbox], [data-testid=stNumberInput], [data-testid=stTextInput]"
    for link in ("", "table", "attention", "compare", "long-context"):
        page.goto(f"{app}/{link}")
        page.locator(".live-plot .nsewdrag").first.wait_for(state="attached")
        settled(page)
        control = page.locator(f"[class*=st-key-settings] :is({fields})").first
        expect(control).to_be_hidden()
        button.tap()
        expect(control).to_be_visible()
        button.tap()
        expect(control).to_be_hidden()
