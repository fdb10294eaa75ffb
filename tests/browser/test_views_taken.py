"""Views of the table and of attention, taken away in Chromium after their sliders were moved."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from pages._ui.attention.inputs import Scene, attention, column, inputs
from posembed_core import create
from tests.browser.test_takeaway import SVG, archived, colours, has_blue_and_red, saved, svg_root
from tests.on_screen import AT_A_LINK, at_rest, settled

pytestmark = pytest.mark.browser

SENTENCE = "one two three"


@pytest.fixture
def moved(new_page: Callable[..., Page], app: str) -> Callable[..., Page]:
    """moved(path, slider, steps, asked) → the page with a slider pushed up by keys, at rest.

    asked: what the address bar comes to say.
    """

    def open_link(path: str, slider: str, steps: int, asked: str) -> Page:
        page = new_page(tolerate=AT_A_LINK)
        page.goto(f"{app}/{path}")
        at_rest(page)
        handle = page.get_by_role("slider", name=slider)
        for _ in range(steps):
            handle.press("ArrowRight")
        page.wait_for_url(re.compile(rf"[?&]{asked}(&|$)"))
        settled(page)
        return page

    return open_link


def drawn(page: Page, folder: Path) -> int:
    """Save the PNG, look at it, save the SVG; how many of its images are pictures."""
    with Image.open(saved(page, "PNG", folder)) as image:
        assert min(image.size) > 600
        assert has_blue_and_red(colours(image))
    svg = svg_root(saved(page, "SVG", folder))
    return len(
        [
            element
            for element in svg.findall(f".//{SVG}image")
            if float(element.get("width", 0)) > 60
        ]
    )


def alone(browser: Browser, file: Path, ask: str) -> Any:
    """What a page of its own answers without a network; nothing else may be asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    page, wrong = context.new_page(), []
    page.on("console", lambda m: wrong.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url),
    )
    page.goto(file.as_uri())
    page.locator("#picture .main-svg").first.wait_for()
    answer = page.evaluate(ask)
    context.close()
    assert wrong == []
    return answer


def printed(script: bytes, folder: Path) -> str:
    path = folder / "script.py"
    path.write_bytes(script)
    command = [sys.executable, "-I", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_looked_up_row_is_taken_away(
    moved: Callable[..., Page], browser: Browser, tmp_path: Path
) -> None:
    page = moved(
        "table?view=lookup&source=sinusoidal&max_seq_len=32&embed_dim=16",
        "Position i", 4, "position=9",
    )  # fmt: skip
    page.get_by_role("button", name="Code", exact=True).click()
    code = page.locator("[data-testid=stPopoverBody] [data-testid=stCode]")
    expect(code).to_contain_text("position = 9")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Take away", exact=True).click()
    assert drawn(page, tmp_path) == 1
    table = create("sinusoidal", embed_dim=16).table(range(32))
    file = saved(page, re.compile("^HTML"), tmp_path)
    assert file.name == "posembed-table-row-9.html"
    row = alone(browser, file, "Array.from(document.getElementById('picture')._fullData[1].y)")
    assert np.array_equal(np.float32(row), table[9].numpy())
    files = archived(page, tmp_path)
    stored = np.load(io.BytesIO(files["position_embeddings.weight.npy"]))
    assert np.array_equal(stored, table.numpy())
    output = printed(files["posembed-table-row-9.py"], tmp_path)
    assert f"position 9: norm {float(table[9].double().norm()):.6g}" in output
    assert {"posembed-table-row-9.png", "posembed-table-row-9.svg"} <= files.keys()
    assert "position=9" in files["README.md"].decode()


def test_weights_are_taken_away(
    moved: Callable[..., Page], browser: Browser, tmp_path: Path
) -> None:
    query = f"tokens=random&text={SENTENCE.replace(' ', '%20')}&encodings=none_alibi&head=2"
    page = moved(f"attention?{query}", "Scale s", 3, "scale=1.03")
    page.get_by_role("button", name="Take away", exact=True).click()
    assert drawn(page, tmp_path) == 5
    scene = Scene(False, SENTENCE)
    alibi = column("alibi", {}, inputs(scene).projections)
    core = attention(scene, alibi, 1, 1.03, False, 1.0)
    file = saved(page, re.compile("^HTML"), tmp_path)
    names = "document.getElementById('picture')._fullData"
    cells = alone(
        browser, file, f"Array.from({names}.find(({{name}}) => name === 'weights 1').z[2])"
    )
    assert np.array_equal(np.float32(cells), core.weights[2].numpy())
    files = archived(page, tmp_path)
    stored = np.load(io.BytesIO(files["alibi-scores.npy"]))
    assert np.array_equal(stored, core.scores.numpy())
    output = printed(files["posembed-attention-none-alibi-alibi.py"], tmp_path)
    assert ", ".join(f"{weight:.4f}" for weight in core.weights[0].tolist()) in output
    assert "scale=1.03" in files["README.md"].decode()


@pytest.mark.parametrize("view", ["shuffle", "shift", "four", "distance"])
def test_the_other_views_have_pages_of_their_own(
    new_page: Callable[..., Page], browser: Browser, app: str, view: str, tmp_path: Path
) -> None:
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/attention?view={view}&encodings=sinusoidal_rope")
    charts = ("HTML of columns", "HTML of errors") if view == "shuffle" else ("HTML",)
    at_rest(page, len(charts))
    page.get_by_role("button", name="Take away", exact=True).click()
    for chart in charts:
        file = saved(page, re.compile(f"^{chart}"), tmp_path)
        assert alone(browser, file, "document.getElementById('picture')._fullData.length") > 1
