"""The page about attention as a visitor uses it: drag, click, reload, other views."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from pages._ui.attention.inputs import Scene, column, inputs, shuffled
from tests.on_screen import AT_A_LINK, at_rest, drag, graph, painted, query, settled

pytestmark = pytest.mark.browser

SCALE, TEMPERATURE = range(2)
# With [CLS] and [SEP] 64 tokens.
LONG = " ".join(["the keys to the cabinet are on the table"] * 7)[:-1].rsplit(" ", 1)[0]
NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"


@pytest.fixture
def visit(new_page: Callable[..., Page], app: str) -> Callable[..., Page]:
    """visit(query, …) → the attention page, painted and at rest."""

    def go(query: str = "", charts: int = 1) -> Page:
        page = new_page(tolerate=AT_A_LINK)
        page.goto(f"{app}/attention?{query}")
        at_rest(page, charts)
        return page

    return go


def click_cell(page: Page, axes: str, across: float, up: float) -> None:
    area = page.locator(f".live-plot .{axes} .nsewdrag").bounding_box()
    assert area is not None
    x, y = area["x"] + area["width"] * across, area["y"] + area["height"] * up
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def test_the_first_look_has_a_picture_for_every_door(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator(".live-plot canvas")).to_have_count(11)
    colours = page.evaluate(
        """() => [...document.querySelectorAll('.live-plot canvas')].map((canvas) => {
             const { width, height } = canvas
             const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
             return new Set(new Uint32Array(data.buffer)).size })"""
    )
    assert min(colours) > 20
    labels = page.locator(".live-plot .cartesianlayer text").all_text_contents()
    # Below each picture, and beside the first of each row.
    assert labels.count("cabinet") == 11 + 3
    assert "adds up to 1" in page.locator("body").inner_text()


@pytest.mark.parametrize(("index", "name"), [(SCALE, "scale"), (TEMPERATURE, "temperature")])
def test_64_tokens_and_12_heads_follow_a_dragged_slider(
    visit: Callable[..., Page], index: int, name: str
) -> None:
    page = visit(f"text={LONG}")
    assert graph(page, "({ data }) => data[0].z.length") == 64
    before = painted(page)
    drag(page, index, 0.3, 0.8, steps=40)
    frames = painted(page) - before
    page.wait_for_url(re.compile(f"{name}="))
    shown = float(page.locator("input[type=number]").nth(1 + index).input_value())
    assert float(query(page)[name][0]) == shown
    assert frames >= 4, f"{frames} frames while the slider moved"


def test_the_released_value_is_the_one_drawn(visit: Callable[..., Page]) -> None:
    page = visit("cell=2_2_5")
    drag(page, TEMPERATURE, 0.7, 0.9)
    page.wait_for_url(re.compile("temperature="))
    shown = float(query(page)["temperature"][0])
    expect(page.get_by_text(f"divided by the temperature {shown:g} =")).to_be_visible()


def test_a_click_gives_an_arithmetic_that_adds_up(visit: Callable[..., Page]) -> None:
    page = visit()
    # The picture of ALiBi's weights, row by row the seventh: query 2 of 11, key 5.
    click_cell(page, "x7y7", 5.5 / 11, 2.5 / 11)
    page.wait_for_url(re.compile("cell=2_2_5"))
    expect(page.get_by_text("ALiBi, head 4: how much")).to_be_visible()
    text = page.locator("[data-testid=stMain]").inner_text().replace("−", "-")
    content = float(re.search(rf"times 0\.176776695 = {NUMBER}", text)[1])
    added = float(re.search(rf"it adds {NUMBER}", text)[1])
    score = float(re.search(rf"= {NUMBER}; divided", text)[1])
    assert content + added == pytest.approx(score, abs=1e-7)
    assert added == pytest.approx(-3 / 12, abs=1e-3) or added < 0
    power = re.search(rf"Weight = exp\({NUMBER} - \(?{NUMBER}\)?\) / {NUMBER} = {NUMBER}", text)
    logit, greatest, total, weight = map(float, power.groups())
    assert weight == pytest.approx(2.718281828459045 ** (logit - greatest) / total, rel=1e-6)
    drawn = graph(page, "({ data }) => data.find(({ name }) => name === 'weights 2').z[2][5]")
    assert weight == pytest.approx(drawn, abs=1e-5)
    page.get_by_role("button", name="The whole row of the softmax").click()
    expect(page.get_by_role("cell", name=f"{weight:.9g}")).to_be_visible()


def test_hover_tells_words_and_value(visit: Callable[..., Page]) -> None:
    page = visit()
    area = page.locator(".live-plot .x7y7 .nsewdrag").bounding_box()
    assert area is not None
    page.mouse.move(area["x"] + area["width"] * 5.5 / 11, area["y"] + area["height"] * 2.5 / 11)
    label = page.locator(".live-plot .hoverlayer")
    expect(label).to_contain_text("query keys, key cabinet")
    expect(label).to_contain_text("α = 0.")


def test_a_reload_shows_the_same(visit: Callable[..., Page]) -> None:
    page = visit("encodings=none_t5&scale=0.5&head=7&cell=1_1_2&causal=true")
    title = page.get_by_text("T5 relative bias, head 7: how much")
    expect(title).to_be_visible()
    settings = query(page)
    page.reload()
    at_rest(page)
    expect(title).to_be_visible()
    expect(page.locator("input[type=number]").nth(1)).to_have_value("0.50")
    assert query(page) == settings


def test_views_are_a_click_away_and_keep_the_settings(visit: Callable[..., Page]) -> None:
    page = visit("temperature=2")
    for title, words in (
        ("Shuffle test", "under this shuffle the outputs only change places"),
        ("Shift test", "does not notice"),
        ("Four terms", "Their sum differs from the whole"),
        ("Distance", "half-life of a weight"),
        ("Weights", "adds up to 1"),
    ):
        page.get_by_role("radio", name=title).click()
        expect(page.get_by_text(words).first).to_be_visible()
        at_rest(page, 2 if title == "Shuffle test" else 1)
        assert query(page)["temperature"] == ["2"]
    expect(page.locator("input[type=number]").nth(2)).to_have_value("2.00")


def strips(page: Page) -> list[np.ndarray]:
    """The colours of the shuffle's columns, (rows, columns, 4): before and after, each encoding."""
    read = page.locator(".live-plot").first.evaluate(
        """(chart) => [...chart.querySelectorAll('canvas')].map((canvas) => {
             const { width, height } = canvas
             const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
             return [height, width, [...data]] })"""
    )
    return [np.array(data).reshape(height, width, 4) for height, width, data in read]


def test_without_position_columns_only_change_places(visit: Callable[..., Page]) -> None:
    text = "the keys to a cabinet are on my table"
    page = visit(f"view=shuffle&tokens=random&encodings=none_sinusoidal&text={text}", charts=2)
    button = page.get_by_role("button", name="Shuffle", exact=True)
    scene = Scene(False, text)
    none = column("none", {}, inputs(scene).projections)
    seen = []
    for seed in (1, 2):
        order = shuffled(scene, none, seed, 1.0, False, 1.0).permutation.tolist()
        came = [text.split()[index] for index in order]
        sentence = page.locator(".live-plot [aria-label^='The tokens before']")
        expect(sentence).to_have_attribute("aria-label", re.compile(f"after it: {', '.join(came)}"))
        settled(page)
        blind_before, blind_after, told_before, told_after = strips(page)
        # A rounding of 1e-15 may turn a colour into its neighbour.
        assert np.abs(blind_after - blind_before[:, order]).max() <= 2
        assert np.abs(told_after - told_before[:, order]).max() > 30
        seen.append(blind_after)
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"shuffle={seed + 1}"))
    assert np.abs(seen[0] - seen[1]).max() > 30
    before = strips(page)[0]
    page.get_by_label("Head", exact=True).fill("5")
    page.keyboard.press("Enter")
    expect(page.get_by_text("one token's output of head 5")).to_be_visible()
    settled(page)
    assert np.abs(strips(page)[0] - before).max() > 30


@pytest.mark.parametrize(
    ("width", "height", "present"),
    [(1280, 800, "false"), (1280, 800, "true"), (390, 844, "false")],
)
def test_chips_are_whole_and_apart(
    new_page: Callable[..., Page], app: str, width: int, height: int, present: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": width, "height": height})
    page.goto(f"{app}/attention?view=shuffle&present={present}")
    at_rest(page, 2)
    settled(page)
    chart, *chips = page.locator(".live-plot").first.evaluate(
        """(chart) => [chart.querySelector('.main-svg'),
             ...chart.querySelectorAll('.annotation-text-g text')].map((e) => {
             const { left, right, top, bottom } = e.getBoundingClientRect()
             return { left, right, top, bottom, size: getComputedStyle(e).fontSize }
           })"""
    )
    # An arrow is an annotation with an empty text.
    words = [chip for chip in chips if chip["left"] < chip["right"]]
    assert len(words) == 2 * 11 + 4
    for index, chip in enumerate(words):
        assert chart["left"] <= chip["left"] < chip["right"] <= chart["right"]
        assert chart["top"] < chip["top"] < chip["bottom"] <= chart["bottom"]
        for other in words[index + 1 :]:
            assert (
                other["left"] >= chip["right"]
                or other["right"] <= chip["left"]
                or other["top"] >= chip["bottom"]
                or other["bottom"] <= chip["top"]
            )
    if present == "true":
        assert min(float(word["size"][:-2]) for word in words) >= 16
    if width > 390:
        # The button, both rows of words and the first encoding's columns are seen together.
        button = page.get_by_role("button", name="Shuffle", exact=True).bounding_box()
        strip = page.locator(".live-plot canvas").nth(1).bounding_box()
        assert button is not None
        assert strip is not None
        assert 0 <= button["y"] < strip["y"] + strip["height"] <= height


def test_a_dragged_shift_moves_the_scores(visit: Callable[..., Page]) -> None:
    page = visit("view=shift")
    before = painted(page)
    drag(page, 0, 0.1, 0.3)
    page.wait_for_url(re.compile("shift="))
    shown = query(page)["shift"][0]
    expect(page.get_by_text(f"become {shown} …")).to_be_visible()
    assert painted(page) - before >= 3
