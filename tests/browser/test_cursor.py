"""A heatmap's cells by keyboard in Chromium: every value, and the arithmetic of every cell."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages._ui.numbers import written
from posembed_core import create, random_tokens
from tests.on_screen import at_rest, eventually, painted, settled

pytestmark = pytest.mark.browser

TABS = 60


def open_page(page: Page, app: str) -> None:
    """Go there, and wait until all is drawn."""
    page.goto(app)
    at_rest(page)
    settled(page)


def tab_to_cells(page: Page) -> Locator:
    """Press Tab until the chart's cells have the focus; what is said there."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.live-plot-cursor')"):
            return page.locator(".live-plot-cursor [role=status]").first
    raise AssertionError(f"the cells were not reached with {TABS} tabs")


def test_arrows_say_every_value_and_enter_explains_it(page: Page, app: str) -> None:
    open_page(page, app)
    spoken = tab_to_cells(page)
    e = random_tokens(128, 64)
    p = create("sinusoidal").table(range(128))
    expect(spoken).to_have_text(f"position 0, dimension 0, e = {written(e[0, 0], '.3g')}")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(spoken).to_have_text(f"position 2, dimension 1, e = {written(e[2, 1], '.3g')}")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Space")
    expect(spoken).to_have_text(f"position 12, dimension 1, s·p = {written(p[12, 1], '.3g')}")
    page.keyboard.press("End")
    expect(spoken).to_have_text(re.compile("^position 127, dimension 1, "))
    page.keyboard.press("ArrowRight")
    expect(spoken).to_have_text(re.compile("^position 127, dimension 1, "))
    page.keyboard.press("Enter")
    expect(page.get_by_text("h[127, 1]").first).to_be_visible()
    expect(page).to_have_url(re.compile("cell=127_1"))
    # The cursor stays where it was, and what is under it is marked.
    assert page.evaluate("document.activeElement.matches('.live-plot-cursor')")
    mark = page.locator(".live-plot-cursor i").first.bounding_box()
    layer = page.locator(".live-plot-cells").nth(1).bounding_box()
    assert mark is not None
    assert layer is not None
    assert abs(mark["x"] + mark["width"] / 2 - layer["x"] - layer["width"]) < 6
    page.keyboard.press("Tab")
    expect(spoken).to_have_text("")
    expect(page.locator(".live-plot-cursor i").first).to_be_hidden()


def test_the_arithmetic_of_a_weight_is_opened_by_keyboard(page: Page, app: str) -> None:
    open_page(page, app)
    page.get_by_role("link", name="Attention", exact=True).click()
    page.wait_for_url(re.compile("attention"))
    page.locator(".st-key-attention-weights .live-plot[data-state=rest]").wait_for()
    settled(page)
    spoken = tab_to_cells(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(spoken).to_have_text(re.compile(r"^Sinusoidal, query .*, key .*, α = 0\.[0-9]+$"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("cell=1_1_0"))
    expect(page.get_by_role("button", name="All products of q and k")).to_be_visible()


def test_charts_without_cells_are_no_stop_on_the_way(page: Page, app: str) -> None:
    open_page(page, app)
    page.get_by_role("link", name="Long context").click()
    at_rest(page, charts=2)
    cursors = page.locator(".live-plot-cursor")
    expect(cursors).to_have_count(2)
    for cursor in cursors.all():
        expect(cursor).to_be_hidden()


def test_no_label_is_made_while_the_cells_lack_the_focus(page: Page, app: str) -> None:
    open_page(page, app)
    page.evaluate(
        """() => { window.labels = 0; const own = Plotly.Fx.hover
             Plotly.Fx.hover = (...all) => { window.labels++; return own(...all) } }"""
    )
    slider = page.locator("input[type=range]").nth(2)
    slider.focus()
    for _ in range(5):
        before = painted(page)
        page.keyboard.press("ArrowRight")
        eventually(page, lambda before=before: painted(page) > before, True)
    expect(page).to_have_url(re.compile(r"scale=1\.05"))
    settled(page)
    assert page.evaluate("window.labels") == 0
    tab_to_cells(page)
    assert page.evaluate("window.labels") == 1
