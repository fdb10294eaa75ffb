"""The page about a model's config as a visitor uses it: paste, drag, keep, read on a phone."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import posembed_core as pc
from posembed_core.model_config import known_configs
from tests.on_screen import AT_A_LINK, at_rest, barriers, settled

pytestmark = pytest.mark.browser

YARN = {
    "head_dim": 64,
    "max_position_embeddings": 16384,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 4096},
}


def open_page(page: Page, app: str) -> None:
    """Come from the landing page, as a visitor does."""
    page.goto(app)
    page.get_by_role("link", name="Long context").click()
    at_rest(page, charts=2)


def expect_text(page: Page, words: str) -> None:
    expect(page.get_by_text(words).first).to_be_visible()


def paste(page: Page, text: str) -> None:
    page.get_by_role("button", name="config.json").click()
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    settled(page)
    page.keyboard.press("Escape")


def test_the_figures_show_every_pair(page: Page, app: str) -> None:
    open_page(page, app)
    drawn = page.evaluate(
        """() => [...document.querySelectorAll('.live-plot .js-plotly-plot')].map((graph) =>
             Object.fromEntries(graph.data.map(({ name, y }) => [name, y.length])))"""
    )
    pairs, scores = drawn
    assert (pairs["untouched"], pairs["blended"], pairs["interpolated"]) == (29, 6, 29)
    assert pairs["angle, scaled"] == pairs["seen in training"] == 64
    assert scores["scaled"] == scores["plain RoPE"] > 200
    for chart in page.locator(".live-plot [role=img]").all():
        assert len(chart.get_attribute("aria-label") or "") > 40


def test_a_pasted_config_is_explained(page: Page, app: str) -> None:
    open_page(page, app)
    odd = {**YARN, "rope_scaling": {**YARN["rope_scaling"], "attention_factor": 1.0}}
    paste(page, json.dumps(odd))
    expect_text(page, "attention_factor 1 cancels the default 1.13863")
    expect_text(page, "Of 32 pairs at 16,384 tokens")
    paste(page, '{"head_dim": 64,\n "rope_theta": }')
    expect_text(page, "Line 2, column 16: not JSON")
    expect(page.locator(".live-plot")).to_have_count(0)
    paste(page, json.dumps(YARN))
    expect_text(page, "Of 32 pairs at 16,384 tokens")
    expect(page.get_by_text("cancels the default")).to_have_count(0)
    at_rest(page, charts=2)


def test_a_link_shows_the_same_to_a_colleague(
    page: Page, new_page: Callable[..., Page], app: str
) -> None:
    open_page(page, app)
    paste(page, json.dumps(YARN))
    expect_text(page, "Of 32 pairs at 16,384 tokens")
    page.wait_for_url("**config=**")
    colleague = new_page(tolerate=AT_A_LINK)
    colleague.goto(page.url)
    at_rest(colleague, charts=2)
    expect_text(colleague, "Of 32 pairs at 16,384 tokens")
    assert colleague.url == page.url


def test_a_file_can_be_opened(page: Page, app: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(YARN))
    open_page(page, app)
    page.get_by_role("button", name="config.json").click()
    page.set_input_files("input[type=file]", file)
    expect_text(page, "Of 32 pairs at 16,384 tokens")
    page.wait_for_url("**config=**")


def test_dragging_the_wanted_length_redraws_while_it_moves(page: Page, app: str) -> None:
    open_page(page, app)
    charts = page.locator(".live-plot")
    before = int(charts.first.get_attribute("data-painted") or 0)
    box = page.locator("input[type=range]").nth(1).bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.85, height)
    page.mouse.down()
    for step in range(20):
        page.mouse.move(box["x"] + box["width"] * (0.85 - step / 50), height)
        page.wait_for_timeout(40)
    while_dragged = int(charts.first.get_attribute("data-painted") or 0)
    page.mouse.up()
    assert while_dragged >= before + 3
    page.wait_for_url("**wanted=**")
    expect_text(page, "with the scaling. Orange")


def test_tables_can_be_kept(page: Page, app: str, tmp_path: Path) -> None:
    open_page(page, app)
    expected = pc.rotary_from_config(known_configs()["Llama 3.1 8B"]).inv_freq(131072)
    page.get_by_role("button", name="Take away").click()
    kept = {}
    for label in ("What becomes of each pair (csv)", "The report (txt)", "Download npy"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        kept[label] = tmp_path / download.value.suggested_filename
        download.value.save_as(kept[label])
    rows = list(csv.DictReader(kept["What becomes of each pair (csv)"].read_text().splitlines()))
    assert [float(row["inv_freq_after"]) for row in rows] == expected.tolist()
    assert rows[0]["kind"] == "untouched"
    assert np.array_equal(np.load(kept["Download npy"])[:, 2], expected.numpy())
    assert "RoPE of Llama 3.1 8B" in kept["The report (txt)"].read_text()


@pytest.mark.parametrize("width", [390, 1024])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(
    new_page: Callable[..., Page], app: str, width: int, scheme: str
) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(app)
    page.locator(".live-plot[data-painted]").wait_for()
    if width < 800:  # the menu is folded there
        page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Long context").click()
    at_rest(page, charts=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.live-plot')].map((plot) => "
        "plot.getBoundingClientRect().right))"
    )
    assert widest <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_but_streamlits_own(
    new_page: Callable[..., Page], app: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    open_page(page, app)
    assert barriers(page) == []
