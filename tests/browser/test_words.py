"""The words on every page: its title, its heading, one sentence; and what a screen reader hears."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages._ui.site import PAGES, SitePage
from tests.browser.test_reach import VIEWS, open_link
from tests.on_screen import AT_A_LINK

pytestmark = pytest.mark.browser

# What is said of elements, also of those in components with a document of their own.
HEARD = """() => { const heard = []
  const walk = (root) => { for (const e of root.querySelectorAll('*')) {
    if (e.shadowRoot) walk(e.shadowRoot)
    for (const name of ['aria-label', 'alt', 'title', 'aria-description'])
      if (e.hasAttribute(name)) heard.push(e.getAttribute(name))
    if (e.matches('[aria-live], [role=status]')) heard.push(e.textContent) } }
  walk(document)
  return heard }"""
MARKUP = re.compile(r"\$|\*\*|`|\\|:[a-z-]+\[")


@pytest.mark.parametrize("site_page", PAGES, ids=lambda site_page: site_page.path)
def test_a_page_has_a_title_and_a_heading_and_says_what_is_seen(
    new_page: Callable[..., Page], app: str, site_page: SitePage
) -> None:
    page = new_page(tolerate=AT_A_LINK)
    open_link(page, app, "" if site_page is PAGES[0] else site_page.path)
    expect(page).to_have_title(f"{site_page.title} · Posembed")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_count(1)
    expect(heading).to_have_text(site_page.title)
    sentence = page.get_by_role("heading", name=site_page.shows, level=2)
    expect(sentence).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("view", [*VIEWS, "?lesson=hard-coded-table.1"])
def test_a_screen_reader_hears_no_markdown(
    new_page: Callable[..., Page], app: str, view: str
) -> None:
    page = new_page(tolerate=AT_A_LINK)
    open_link(page, app, view)
    heard = page.evaluate(HEARD)
    assert heard
    assert [text for text in heard if MARKUP.search(text)] == []
