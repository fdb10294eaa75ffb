"""From page to page in Chromium: the menu, the browser's Back and Forward, a picture's link."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.on_screen import AT_A_LINK, at_rest, query, settled

pytestmark = pytest.mark.browser


def where(page: Page) -> tuple[str, str]:
    """The title of the page that is shown, and its address without the server's."""
    settled(page)
    title = page.locator("h1").inner_text()
    return title, page.url.partition("//")[2].partition("/")[2]


def menu(page: Page, title: str) -> tuple[str, str]:
    """Go to a page by the menu."""
    page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
    expect(page.locator("h1")).to_have_text(title)
    return where(page)


def number(page: Page, label: str, value: str) -> tuple[str, str]:
    """Type a number into a field or a slider."""
    field = page.get_by_role("spinbutton", name=label).first
    field.fill(value)
    field.press("Enter")
    page.wait_for_url(lambda url: f"={value}" in url)
    return where(page)


def test_back_and_forward_go_one_step_a_press_through_pages_and_settings(
    page: Page, app: str
) -> None:
    page.goto(app)
    at_rest(page)
    steps = [
        where(page),
        number(page, "Dimension", "32"),
        number(page, "Scale s", "2"),
        menu(page, "Attention"),
        number(page, "Head", "7"),
        menu(page, "Compare"),
        menu(page, "Lessons"),
        menu(page, "Attention"),
        menu(page, "Combine"),
    ]
    assert steps == [
        ("Combine", ""),
        ("Combine", "?dimension=32"),
        ("Combine", "?dimension=32&scale=2"),
        ("Attention", "attention?scale=2"),
        ("Attention", "attention?head=7&scale=2"),
        ("Compare", "compare?dimension=32"),
        ("Lessons", "lesson"),
        ("Attention", "attention?head=7&scale=2"),
        ("Combine", "?dimension=32&scale=2"),
    ]
    for step in reversed(steps[:-1]):
        page.go_back()
        expect(page.locator("h1")).to_have_text(step[0])
        assert where(page) == step
    scale, dimension = (
        page.get_by_role("spinbutton", name=label) for label in ("Scale s", "Dimension")
    )
    expect(dimension).to_have_value("64")
    for step in steps[1:]:
        page.go_forward()
        expect(page.locator("h1")).to_have_text(step[0])
        assert where(page) == step
    expect(scale).to_have_value("2.00")
    expect(dimension).to_have_value("32")
    assert page.get_by_test_id("stAlert").count() == 0


def test_from_a_picture_and_back_is_one_step_each_on_a_projector_too(
    new_page: Callable[..., Page], app: str
) -> None:
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/compare?encodings=sinusoidal_alibi&length=32&present=true")
    at_rest(page)
    before = where(page)
    page.locator(".live-plot .nsewdrag").nth(1).click()
    expect(page.locator("h1")).to_have_text("Combine")
    assert where(page)[0] == "Combine"
    shown = {"encoding": ["alibi"], "length": ["32"], "present": ["true"]}
    assert query(page) == query(page) | shown
    page.go_back()
    expect(page.locator("h1")).to_have_text("Compare")
    assert where(page) == before
    page.locator(".live-plot a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Combine")
    settled(page)
    assert query(page)["present"] == ["true"]
