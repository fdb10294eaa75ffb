"""The lens in Chromium: one line of true values, the same cell marked in all pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from posembed_core import create, random_tokens
from tests.on_screen import AT_A_LINK, at_rest, drag, settled

pytestmark = pytest.mark.browser

SCALE = 2


@pytest.fixture
def at(new_page: Callable[..., Page], app: str) -> Callable[[str], Page]:
    """at(path) → the page, painted and at rest."""

    def open_link(path: str) -> Page:
        page = new_page(tolerate=AT_A_LINK)
        page.goto(f"{app}/{path}")
        at_rest(page)
        settled(page)
        return page

    return open_link


def rects(page: Page, selector: str) -> list[Any]:
    """Where visible elements of the chart are in the window."""
    boxes: list[Any] = page.evaluate(
        """(selector) => [...document.querySelectorAll(selector)].map((element) => {
             const { left, top, width, height } = element.getBoundingClientRect()
             return { left, top, width, height } }).filter(({ width }) => width)""",
        selector,
    )
    return boxes


def point(page: Page, picture: int, across: float, up: float) -> None:
    """Move the mouse to a share of a picture."""
    area = rects(page, ".live-plot-cells")[picture]
    x, y = area["left"] + across * area["width"], area["top"] + up * area["height"]
    page.mouse.move(x - 4, y)
    page.mouse.move(x, y)


def written(value: float) -> str:
    text = f"{value:.3f}".replace("-", "−")
    return "0" if value == 0 else text


def sentence(position: int, dimension: int, scale: float, dimensions: int = 64) -> str:
    """The line for random tokens and a sinusoid, from the core."""
    e = float(random_tokens(position + 1, dimensions)[position, dimension])
    p = float(create("sinusoidal", embed_dim=dimensions).table([position])[0, dimension])
    shown = f"({written(p)})" if p < 0 else written(p)
    total = written(e + scale * p)
    return (
        f"position {position}, dimension {dimension}: {written(e)} + {scale:g} · {shown} = {total}"
    )


@pytest.mark.parametrize("picture", [0, 1, 2])
def test_a_cell_is_said_and_marked_in_all_pictures_and_the_norms(
    at: Callable[[str], Page], picture: int
) -> None:
    page = at("")
    line = page.locator(".live-plot-lens")
    place = line.bounding_box()
    point(page, picture, 66.5 / 128, 32.5 / 64)
    expect(line).to_have_text(sentence(66, 32, 1.0))
    colours = line.locator("span").evaluate_all("(s) => s.map((e) => getComputedStyle(e).color)")
    assert len(set(colours)) == 3
    assert line.bounding_box() == place
    marks = rects(page, ".live-plot-marks i")
    areas = rects(page, ".live-plot-cells")
    assert len(marks) == 4
    for mark, area in zip(marks, areas, strict=False):
        assert (mark["left"] + mark["width"] / 2 - area["left"]) / area["width"] == pytest.approx(
            66.5 / 128, abs=0.004
        )
        assert (mark["top"] + mark["height"] / 2 - area["top"]) / area["height"] == pytest.approx(
            32.5 / 64, abs=0.008
        )
    norms = rects(page, ".live-plot .nsewdrag")[3]
    assert (marks[3]["left"] + marks[3]["width"] / 2 - norms["left"]) / norms[
        "width"
    ] == pytest.approx(66.5 / 128, abs=0.002)
    assert marks[3]["height"] == pytest.approx(norms["height"], abs=1)


def test_the_line_follows_the_scale_and_a_click_pins_the_cell(at: Callable[[str], Page]) -> None:
    page = at("")
    line = page.locator(".live-plot-lens")
    expect(line).to_have_text(re.compile("^Point at a cell"))
    point(page, 0, 66.5 / 128, 32.5 / 64)
    expect(line).to_have_text(sentence(66, 32, 1.0))  # a click takes what Plotly shows
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**cell=66_32**")
    page.mouse.move(5, 5)
    expect(line).to_have_text(sentence(66, 32, 1.0))
    drag(page, SCALE, 0.2, 0.6, steps=6, release=False)
    settled(page, ())
    moving = line.inner_text()
    assert moving.startswith("position 66, dimension 32: −1.622 + ")
    assert moving != sentence(66, 32, 1.0)
    assert line.get_attribute("aria-live") == "off"
    page.mouse.up()
    settled(page)
    page.reload()
    at_rest(page)
    expect(line).to_have_text(moving)
    assert len(rects(page, ".live-plot-marks i")) == 4


def test_a_rounded_value_becomes_the_exact_one(at: Callable[[str], Page]) -> None:
    page = at("?length=4096&dimension=512")
    line = page.locator(".live-plot-lens")
    point(page, 0, 0.4, 0.4)
    expect(line).to_have_text(re.compile("^position [0-9]+, dimension [0-9]+: [−0-9]"))
    place = re.findall(r"\d+", line.inner_text().partition(":")[0])
    expect(line).to_have_text(sentence(int(place[0]), int(place[1]), 1.0, 512))


def test_arrow_keys_move_the_lens_and_it_is_heard(at: Callable[[str], Page]) -> None:
    page = at("")
    page.locator(".live-plot-cursor").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    line = page.locator(".live-plot-lens")
    expect(line).to_have_text(sentence(3, 0, 1.0))
    assert line.get_attribute("aria-live") == "polite"


def test_attention_says_query_key_and_every_weight(at: Callable[[str], Page]) -> None:
    page = at("attention")
    point(page, 0, 5.5 / 11, 2.5 / 11)
    expect(page.locator(".live-plot-lens")).to_have_text(
        re.compile(
            r"^query keys, key cabinet: α = None \(NoPE\) 0\.\d{3}, Sinusoidal 0\.\d{3}, "
            r"ALiBi 0\.\d{3}, RoPE 0\.\d{3}$"
        )
    )
    # Scores and weights in four columns, changes in three.
    assert len(rects(page, ".live-plot-marks i")) == 11


def test_the_table_says_the_row(at: Callable[[str], Page]) -> None:
    page = at("table?view=lookup")
    point(page, 0, 0.3, 0.3)
    expect(page.locator(".live-plot-lens")).to_have_text(
        re.compile(r"^position 38, dimension 19: P = −?0\.\d{3}$")
    )
