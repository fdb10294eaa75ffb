"""The landing page as a visitor uses it: mouse, keyboard, links."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages._ui.combine.settings import SLIDERS
from pages._ui.controls.link import _IN_FLIGHT_SECONDS
from tests.on_screen import at_rest, drag, eventually, graph, painted, query, settled

pytestmark = pytest.mark.browser

LENGTH, DIMENSION, SCALE = range(3)
# In milliseconds: a URL as old as this is the reader's, not one still in flight.
OLD = 1000 * _IN_FLIGHT_SECONDS + 100


def open_page(page: Page, url: str) -> None:
    """Go there and wait until the picture is painted and at rest."""
    page.goto(url)
    at_rest(page)


def slider(page: Page, index: int):
    return page.locator("input[type=range]").nth(index)


def wait_for_query(page: Page, pattern: str) -> None:
    page.wait_for_url(re.compile(pattern))


def ranges(page: Page) -> list[list[float]]:
    return graph(page, "({ _fullLayout: { xaxis, yaxis } }) => [xaxis.range, yaxis.range]")


def zoom_in(page: Page) -> None:
    """Draw a box in the first picture with the mouse."""
    area = page.locator(".live-plot .xy .nsewdrag").bounding_box()
    page.mouse.move(area["x"] + area["width"] * 0.2, area["y"] + area["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.6, steps=6)
    page.mouse.up()


def test_the_first_look_is_the_default_picture(page: Page, app: str) -> None:
    open_page(page, app)
    expect(page.get_by_text("Each cell is one value.")).to_be_visible()
    canvases = page.locator(".live-plot canvas")
    expect(canvases).to_have_count(3)
    # Every picture has many colours: none is an empty frame.
    colours = page.evaluate(
        """() => [...document.querySelectorAll('.live-plot canvas')].map((canvas) => {
             const { width, height } = canvas
             const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
             return new Set(new Uint32Array(data.buffer)).size })"""
    )
    assert min(colours) > 20
    expect(page.get_by_role("cell", name="4.709", exact=True)).to_be_visible()


def test_pictures_follow_a_dragged_scale_and_end_at_the_released_value(
    page: Page, app: str
) -> None:
    open_page(page, app)
    before = painted(page)
    drag(page, SCALE, 0.2, 0.6)
    wait_for_query(page, r"scale=")
    shown = float(page.locator("input[type=number]").nth(SCALE).input_value())
    assert query(page)["scale"] == [f"{shown:g}"]
    assert painted(page) - before >= 4, "the pictures did not move while the slider did"
    # ‖s·p‖ of a 64-dimensional sinusoid is s · sqrt(32).
    norm = f"{shown * 32**0.5:.3f}"
    expect(page.get_by_role("cell", name=norm, exact=True).first).to_be_visible()


def test_the_axis_comes_to_fit_a_slider_that_is_held_still(page: Page, app: str) -> None:
    open_page(page, app)
    drag(page, SCALE, 0.2, 0.95, steps=8, release=False)
    # ‖s·p‖ = s · sqrt(32): the axis of the norms follows, the colours stand still.
    page.wait_for_function(
        """() => { const { coloraxis, yaxis4 } =
                     document.querySelector('.live-plot .js-plotly-plot')._fullLayout
                   return coloraxis.cmax === 1.5 && yaxis4.range[1] > 25 }"""
    )
    expect(page.locator(".live-plot[data-state=moving]")).to_have_count(1)
    page.mouse.up()
    at_rest(page)


def test_a_frame_of_a_dragged_scale_stays_below_300_kb(page: Page, app: str, traffic) -> None:
    open_page(page, f"{app}/?length=2048&dimension=1024")
    fetched: list[int] = []
    page.on("response", lambda answer: fetched.append(int(answer.headers.get("content-length", 0))))
    traffic.clear()
    before = painted(page)
    drag(page, SCALE, 0.2, 0.7, steps=15)
    wait_for_query(page, r"scale=")
    frames = painted(page) - before
    assert frames >= 3
    assert max(traffic.sizes) <= 300_000
    assert (sum(traffic.sizes) + sum(fetched)) / frames <= 300_000


def test_zoom_brings_finer_cells_and_outlives_a_slider(page: Page, app: str) -> None:
    open_page(page, f"{app}/?length=2048&dimension=256")
    expect(page.get_by_text("Each cell is one of 4 × 1 values")).to_be_visible()
    zoom_in(page)
    expect(page.get_by_text("Each cell is one of 2 × 1 values")).to_be_visible()
    zoomed = ranges(page)
    assert 300 < zoomed[0][0] < zoomed[0][1] < 1100
    drag(page, SCALE, 0.2, 0.4)
    wait_for_query(page, r"scale=")
    at_rest(page)
    assert ranges(page) == zoomed
    page.get_by_role("button", name="Reset zoom").first.click()
    expect(page.get_by_text("Each cell is one of 4 × 1 values")).to_be_visible()


def test_no_new_frame_ends_a_drag_in_a_picture(page: Page, app: str) -> None:
    open_page(page, f"{app}/?length=2048&dimension=256")
    at_rest(page)
    area = page.locator(".live-plot .xy .nsewdrag").bounding_box()
    left, top, width, height = (area[side] for side in ("x", "y", "width", "height"))
    page.mouse.move(left + width * 0.2, top + height * 0.2)
    page.mouse.down()
    page.mouse.move(left + width * 0.4, top + height * 0.4, steps=3)
    before = painted(page)
    # A frame comes while the button is held: the scale is another one.
    page.locator("input[type=range]").nth(SCALE).evaluate(
        """(range) => { range.value = '2'
             for (const name of ['input', 'change'])
               range.dispatchEvent(new Event(name, { bubbles: true })) }"""
    )
    wait_for_query(page, r"scale=2\b")
    settled(page, ())
    assert painted(page) == before
    page.mouse.move(left + width * 0.5, top + height * 0.6, steps=3)
    page.mouse.up()
    expect(page.get_by_text("Each cell is one of 2 × 1 values")).to_be_visible()
    assert painted(page) > before


def test_a_link_and_a_reload_show_the_same(page: Page, app: str) -> None:
    link = f"{app}/?encoding=rope&length=40&dimension=32&scale=0.5&pairing=interleaved&at=1_2"
    open_page(page, link)
    expect(page.locator("input[type=number]").nth(LENGTH)).to_have_value("40")
    expect(page.locator("input[type=number]").nth(DIMENSION)).to_have_value("32")
    table = page.locator("table").inner_text()
    settings = query(page)
    page.reload()
    at_rest(page)
    eventually(page, page.locator("table").inner_text, table)
    assert query(page) == settings == parse_qs(urlsplit(link).query)


def test_a_link_holds_the_zoom_and_back_undoes_it(page: Page, app: str) -> None:
    open_page(page, f"{app}/?length=2048&dimension=256&zoom=100_199_10_49")
    expect(page.get_by_text("Each cell is one value.")).to_be_visible()
    assert ranges(page) == [[99.5, 199.5], [49.5, 9.5]]
    drag(page, SCALE, 0.2, 0.4)
    wait_for_query(page, r"scale=")
    assert ranges(page) == [[99.5, 199.5], [49.5, 9.5]]
    assert query(page)["zoom"] == ["100_199_10_49"]
    page.get_by_role("button", name="Reset zoom").first.click()
    expect(page.get_by_text("Each cell is one of 4 × 1 values")).to_be_visible()
    page.wait_for_function("() => !location.search.includes('zoom')")
    page.wait_for_timeout(OLD)
    page.go_back()
    eventually(page, lambda: ranges(page), [[99.5, 199.5], [49.5, 9.5]])
    expect(page.get_by_text("Each cell is one value.")).to_be_visible()


def test_a_bad_link_is_explained_and_mended(page: Page, app: str) -> None:
    open_page(page, f"{app}/?length=99999&dimension=abc&scale=-1&colour=red&encoding=rop")
    alerts = " ".join(page.get_by_role("alert").all_inner_texts())
    for part in ("99999", "between 1 and 8192", "abc", "scale=-1", "colour", "rop"):
        assert part in alerts, f"{part!r} is not explained: {alerts}"
    wait_for_query(page, r"length=8192")
    assert query(page) == {"length": ["8192"], "scale": ["0"]}


def test_back_undoes_a_setting(page: Page, app: str) -> None:
    open_page(page, app)
    slider(page, SCALE).focus()
    page.keyboard.press("ArrowRight")
    wait_for_query(page, r"scale=1\.01")
    page.wait_for_timeout(OLD)
    page.go_back()
    expect(page.locator("input[type=number]").nth(SCALE)).to_have_value("1.00")


def test_everything_on_the_sliders_works_by_keyboard(page: Page, app: str) -> None:
    open_page(page, app)
    slider(page, LENGTH).focus()
    page.keyboard.press("Home")
    wait_for_query(page, r"length=1(&|$)")
    page.keyboard.press("ArrowRight")
    wait_for_query(page, r"length=2(&|$)")
    page.keyboard.press("End")
    wait_for_query(page, r"length=8192")
    field = page.locator("input[type=number]").nth(LENGTH)
    field.fill("300")
    field.press("Enter")
    wait_for_query(page, r"length=300")


def test_a_click_explains_its_cell(page: Page, app: str) -> None:
    open_page(page, app)
    area = page.locator(".live-plot .x2y2 .nsewdrag").bounding_box()
    page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    page.mouse.click(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    wait_for_query(page, r"cell=\d+_\d+")
    position, dimension = query(page)["cell"][0].split("_")
    expect(
        page.get_by_text(f"h[{position}, {dimension}] = e[{position}, {dimension}]")
    ).to_be_visible()


@pytest.mark.parametrize("preset", ["The table", "Combining", "Injection"])
def test_a_preset_shows_the_handbooks_numbers(page: Page, app: str, preset: str) -> None:
    printed = {
        "The table": ["[0.062 -0.017 0.081 0.190 -0.029 …]", "[0.158 -0.088 0.055 0.097 -0.116 …]"],
        "Combining": ["4.709", "0.910", "4.554", "3.886", "0.881", "3.958", "4.019", "4.333"],
        "Injection": ["-1.254 -0.638 0.907 -1.429", "0.089 0.175 0.150 0.107"],
    }[preset]
    open_page(page, app)
    page.get_by_role("button", name="Handbook").click()
    page.get_by_role("button", name=preset).click()
    for number in printed:
        shown = number.replace(" ", "\u00a0").replace("-", "−")
        expect(page.locator("table")).to_contain_text(shown)


def test_a_sentence_shows_its_tokens_in_the_models_width(page: Page, app: str) -> None:
    open_page(page, f"{app}/?tokens=sentence&encoding=model&text=Unbelievably good&at=0_1_2")
    expect(page.locator("table")).to_contain_text("[CLS]")
    expect(page.locator("table")).to_contain_text("##")
    expect(page.locator("input[type=number]").nth(DIMENSION)).to_have_value("384")
    expect(slider(page, DIMENSION)).to_be_disabled()
    field = page.get_by_label("Sentence")
    field.fill("A shorter one")
    field.press("Enter")
    expect(page.locator("table")).to_contain_text("shorter")


def test_a_token_that_looks_like_markup_is_text(page: Page, app: str) -> None:
    open_page(page, f"{app}/?tokens=sentence&encoding=model&text=<b>|**&at=0_1_2_3_4_5")
    words = page.locator("table code").all_inner_texts()
    assert words == ["[CLS]", "<", "b", ">", "|", "*"]


def test_a_dragged_picture_does_not_fade_and_its_numbers_follow(page: Page, app: str) -> None:
    open_page(page, app)
    # Streamlit fades what a run hasn't drawn yet; even the wait for it costs a layer of the chart.
    page.evaluate(
        """() => { window.faded = []
             addEventListener('transitionrun', ({ target, propertyName }) => {
               if (target.querySelector?.('.live-plot') && propertyName === 'opacity')
                 faded.push(target.className) }, true) }"""
    )
    cell = page.locator("table tbody tr td:nth-of-type(2)").first
    before = cell.inner_text()
    drag(page, SCALE, 0.2, 0.6, release=False)
    expect(cell).not_to_have_text(before)
    page.mouse.up()
    wait_for_query(page, r"scale=3")
    assert page.evaluate("faded") == []


def test_it_asks_nothing_of_other_hosts_and_works_embedded(page: Page, app: str) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    open_page(page, f"{app}/?embed=true")
    expect(slider(page, SCALE)).to_be_visible()
    expect(page.get_by_test_id("stMainMenu")).to_have_count(0)
    assert hosts - {""} == {urlsplit(app).netloc}


@pytest.mark.parametrize("by", ["keyboard", "finger"])
def test_a_sliders_help_is_there_for_everybody(
    new_page: Callable[..., Page], app: str, by: str
) -> None:
    size = {"width": 1280, "height": 800} if by == "keyboard" else {"width": 390, "height": 844}
    page = new_page(viewport=size, has_touch=by == "finger")
    open_page(page, app)
    for name, (parameter, _) in SLIDERS.items():
        text = page.get_by_text(parameter.help, exact=True)
        about = page.get_by_role("button", name=f"About {parameter.label}")
        expect(text).to_be_hidden()
        if by == "finger":
            about.tap()
        else:
            about.focus()
            page.keyboard.press("Enter")
        expect(text).to_be_visible()
        box, button = text.bounding_box(), about.bounding_box()
        assert 0 <= box["x"] <= size["width"] - box["width"], name
        below = box["y"] - button["y"] - button["height"]
        above = button["y"] - box["y"] - box["height"]
        # On a phone the sliders are at the bottom of the window.
        assert 0 <= (above if by == "finger" else below) <= 8, name
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"], name
        page.keyboard.press("Escape")
        expect(text).to_be_hidden()
