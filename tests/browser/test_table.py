"""The table page as a visitor uses it: train, watch, play, look up, upload, keep."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

import posembed_core as pc
from pages._ui.table.training import FRAMES
from tests.on_screen import AT_A_LINK, at_rest, eventually, graph, settled

pytestmark = pytest.mark.browser

SMALL = "max_seq_len=32&embed_dim=16&num_tokens=8&batch_size=4&steps=80"
SPEC = pc.TrainingSpec(
    max_seq_len=32, embed_dim=16, num_tokens=8, batch_size=4, steps=80,
    snapshot_every=-(-80 // FRAMES),
)  # fmt: skip


@pytest.fixture
def at(new_page: Callable[..., Page], app: str) -> Callable[..., Page]:
    """at(query) → the table page at that link, painted and at rest."""

    def open_link(query: str = SMALL) -> Page:
        page = new_page(tolerate=AT_A_LINK)
        page.goto(f"{app}/table?{query}")
        at_rest(page)
        return page

    return open_link


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def say(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(words).first).to_be_visible()


def trained(page: Page) -> None:
    """Wait for the end of the run and its player."""
    say(page, "Step 80 of 80")
    expect(page.locator(".live-plot-player")).to_be_visible()


def picture(page: Page) -> str:
    """What the similarity's canvas shows."""
    return str(page.evaluate("() => document.querySelectorAll('.live-plot canvas')[1].toDataURL()"))


def loss_points(page: Page) -> int:
    loss = "({ data }) => [...data.find(({ name }) => name === 'loss').y]"
    return int(graph(page, f"{loss}.filter(Number.isFinite).length"))


def test_noise_is_trained_and_played_back_without_the_server(
    at: Callable[..., Page], traffic
) -> None:
    page = at()
    noise = picture(page)
    press(page, "Run")
    trained(page)
    page.wait_for_url("**step=80**")
    assert picture(page) != noise
    eventually(page, lambda: loss_points(page), 41)
    settled(page)
    traffic.clear()
    slider = page.get_by_role("slider", name="Snapshot")
    slider.press("Home")
    expect(page.locator(".live-plot-player output")).to_have_text("step 0 of 80")
    eventually(page, lambda: picture(page), noise)
    eventually(page, lambda: loss_points(page), 1)
    press(page, "Play")
    expect(page.locator(".live-plot-player output")).to_have_text("step 80 of 80")
    assert sum(traffic.sizes) == 0
    press(page, "Reset")
    say(page, "Step 0 of 80")
    eventually(page, lambda: picture(page), noise)


def test_a_long_run_can_be_paused_and_the_page_used_meanwhile(at: Callable[..., Page]) -> None:
    page = at("steps=1000")
    press(page, "Run")
    say(page, re.compile(r"Step [1-9]\d* of 1000, about \d+ s left"))
    page.get_by_role("radio", name="One step").click()
    say(page, "20 rows moved")
    page.get_by_role("radio", name="Training").click()
    press(page, "Pause")
    say(page, re.compile(r"^Step \d+ of 1000$"))
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    page.wait_for_url("**step=**")


def test_a_row_is_looked_up_while_the_slider_moves(at: Callable[..., Page]) -> None:
    page = at(f"{SMALL}&view=lookup")
    slider = page.get_by_role("slider", name="Position i")
    slider.press("ArrowRight")
    page.wait_for_url("**position=6**")
    row = "({ data }) => [...data.find(({ name }) => name === 'row').y]"
    expected = pytest.approx(SPEC.initial_table()[6].tolist())
    eventually(page, lambda: graph(page, row), expected)
    slider.press("End")
    say(page, "Position 63 has no row in a table of 32 rows")


def test_a_refused_file_is_said_and_a_good_one_shown(
    at: Callable[..., Page], tmp_path: Path
) -> None:
    page = at(f"{SMALL}&view=measures&measure=norms")
    bad, good = tmp_path / "bad.pt", tmp_path / "good.pt"
    bad.write_bytes(pickle.dumps(object))
    buffer = io.BytesIO()
    torch.save({"wpe.weight": torch.ones(20, 4)}, buffer)
    good.write_bytes(buffer.getvalue())
    press(page, "Your file")
    page.set_input_files("input[type=file]", bad)
    say(page, "Refused: bad.pt holds pickled code or objects, which are never loaded")
    page.set_input_files("input[type=file]", good)
    say(page, "20 positions × 4 dimensions")
    expect(page.get_by_text("Refused")).to_have_count(0)


def test_what_is_shown_can_be_kept(at: Callable[..., Page], tmp_path: Path) -> None:
    page = at(f"{SMALL}&step=80")
    trained(page)
    *_, result = pc.train_table(SPEC)
    press(page, "Take away")
    for ending in ("npy", "safetensors"):
        page.get_by_role("radio", name=ending, exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("button", name=re.compile(f"^Download {ending}")).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        kept = pc.load_table(file).weight
        assert kept.numpy().tobytes() == result.weight.numpy().tobytes()
