"""The page about a model's config as a visitor uses it: paste, drag, keep."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import posembed_core as pc
from posembed_core.model_config import known_configs
from tests.on_screen import AT_A_LINK, at_rest, drag, settled

pytestmark = pytest.mark.browser

YARN = {
    "head_dim": 64,
    "max_position_embeddings": 16384,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 4096},
}


@pytest.fixture
def page(new_page: Callable[..., Page], app: str) -> Page:
    """The page, drawn."""
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/long-context")
    at_rest(page, charts=2)
    return page


def expect_text(page: Page, words: str) -> None:
    expect(page.get_by_text(words).first).to_be_visible()


def paste(page: Page, text: str) -> None:
    page.get_by_role("button", name="config.json").click()
    area = page.get_by_label("Text", exact=True)
    area.fill(text)
    area.press("Control+Enter")
    settled(page)
    page.keyboard.press("Escape")


def test_the_figures_show_every_pair(page: Page) -> None:
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


def test_a_pasted_config_is_explained(page: Page) -> None:
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


def test_a_link_shows_the_same_to_a_colleague(page: Page, new_page: Callable[..., Page]) -> None:
    paste(page, json.dumps(YARN))
    expect_text(page, "Of 32 pairs at 16,384 tokens")
    page.wait_for_url("**config=**")
    colleague = new_page(tolerate=AT_A_LINK, cold=True)
    colleague.goto(page.url)
    at_rest(colleague, charts=2)
    expect_text(colleague, "Of 32 pairs at 16,384 tokens")
    assert colleague.url == page.url


def test_a_file_can_be_opened(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(YARN))
    page.get_by_role("button", name="config.json").click()
    page.set_input_files("input[type=file]", file)
    expect_text(page, "Of 32 pairs at 16,384 tokens")
    page.wait_for_url("**config=**")


def test_dragging_the_wanted_length_redraws_while_it_moves(page: Page) -> None:
    charts = page.locator(".live-plot")
    before = int(charts.first.get_attribute("data-painted") or 0)
    drag(page, 1, 0.85, 0.45, steps=20, release=False)
    while_dragged = int(charts.first.get_attribute("data-painted") or 0)
    page.mouse.up()
    assert while_dragged >= before + 3
    page.wait_for_url("**wanted=**")
    expect_text(page, "with the scaling. Orange")


def test_tables_can_be_kept(page: Page, tmp_path: Path) -> None:
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


def test_a_phone_comes_through_the_folded_menu(new_page: Callable[..., Page], app: str) -> None:
    page = new_page(viewport={"width": 390, "height": 800})
    page.goto(app)
    page.locator(".live-plot[data-painted]").wait_for()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Long context").click()
    at_rest(page, charts=2)


@pytest.mark.parametrize("by", ["cell", "button", "key"])
def test_a_click_on_a_layer_opens_its_kind(page: Page, by: str) -> None:
    page.goto(page.url.partition("?")[0] + "?model=gemma-3-4b")
    at_rest(page, charts=2)
    expect_text(page, "base 1,000,000 (rope_theta)")
    cells = page.locator(".strip .cell")
    expect(cells).to_have_count(34)
    # Layers with a window are lower than those that see all tokens, and only these are striped.
    heights = cells.evaluate_all("cells => cells.map((cell) => cell.offsetHeight)")
    striped = cells.evaluate_all(
        "cells => cells.map((cell) => getComputedStyle(cell).backgroundImage !== 'none')"
    )
    assert [height == max(heights) for height in heights] == striped
    assert striped == [index % 6 == 5 for index in range(34)]
    other = page.get_by_role("button", name="29 layers of sliding attention")
    if by == "cell":
        cells.nth(6).click()
    elif by == "button":
        other.click()
    else:
        other.focus()
        page.keyboard.press("Enter")
    expect_text(page, "base 10,000 (rope_local_base_freq)")
    expect(other).to_have_attribute("aria-pressed", "true")
    assert "layers=sliding_attention" in page.url
    if by == "key":
        expect(other).to_be_focused()


def fills(page: Page) -> list[set[tuple[int, int, int]]]:
    """The colours on the screen of each cell of the strip, but for its number and its edge."""
    colours = []
    for cell in page.locator(".strip .cell").all():
        seen = Image.open(io.BytesIO(cell.screenshot())).convert("RGB")
        width, height = seen.size
        corner = seen.crop((4, height - 7, width - 4, height - 4))
        colours.append({corner.getpixel((x, y)) for x in range(corner.width) for y in range(3)})
    return colours


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_cells_have_the_colour_of_what_their_layer_does(
    new_page: Callable[..., Page], app: str, theme: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, color_scheme=theme)

    def cells_of(**config: object) -> list[set[tuple[int, int, int]]]:
        page.goto(f"{app}/long-context?{urlencode({'model': 'own', 'config': json.dumps(config)})}")
        settled(page, states=())
        return fills(page)

    turning, _, _, still = cells_of(model_type="smollm3", num_hidden_layers=4)
    local, _, _, scaled, *_ = cells_of(
        model_type="gemma3_text", num_hidden_layers=6, layer_types=["sliding_attention"] * 3
        + ["full_attention"] * 3, rope_theta=1e6, rope_scaling={"type": "linear", "factor": 8},
    )  # fmt: skip
    biased, _ = cells_of(model_type="bloom", n_head=8, n_layer=2)
    (background,) = still
    assert (min(background) > 240) if theme == "light" else (max(background) < 40)
    (orange,) = turning
    assert orange[0] > orange[2] + 40
    assert local == turning
    assert turning < scaled, "stripes over the same orange"
    (blue,) = biased
    assert blue[2] > blue[0] + 20


@pytest.mark.parametrize("width", [1280, 390])
def test_every_cell_of_the_strip_is_in_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(page.url.partition("?")[0] + "?model=deepseek-v3")
    at_rest(page, charts=2)
    cells = page.locator(".strip .cell")
    expect(cells).to_have_count(61)
    boxes = cells.evaluate_all(
        "cells => cells.map((cell) => cell.getBoundingClientRect()).map((b) => [b.left, b.right])"
    )
    assert all(left >= 0 and right <= width for left, right in boxes)


def test_a_model_without_rope_leads_to_the_page_that_shows_what_it_has(page: Page) -> None:
    paste(page, json.dumps({"model_type": "bloom", "n_head": 16, "n_layer": 24}))
    expect_text(page, "This model has no RoPE.")
    page.get_by_role("link", name="ALiBi, a bias on every score").click()
    expect(page.get_by_role("heading", name="Combine")).to_be_visible()
    expect_text(page, "ALiBi")
