"""The live components in Chromium: what a person drags, types, zooms and sees."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.on_screen import eventually, graph, settled

pytestmark = pytest.mark.browser
DEMO = Path(__file__).parent / "apps" / "live_demo.py"


@pytest.fixture(scope="module")
def url(serve):
    return serve(DEMO)


def open_demo(page, url, query=""):
    page.goto(f"{url}/{query}")
    page.locator(".live-plot").first.wait_for()
    settled(page)


def scale(page):
    return page.get_by_role("slider", name="Scale")


def text(page, start):
    return page.get_by_test_id("stText").filter(has_text=re.compile(f"^{start}"))


def drag(page, share, steps=12, release=True):
    """Hold the scale slider's thumb and move it to a share of its width; it starts at 1 of 4."""
    box = scale(page).bounding_box()
    at = lambda part: box["x"] + 8 + part * (box["width"] - 16)  # noqa: E731
    middle = box["y"] + box["height"] / 2
    page.mouse.move(at(0.25), middle)
    page.mouse.down()
    page.mouse.move(at(share), middle, steps=steps)
    if release:
        page.mouse.up()


def values(page, trace):
    """The heatmap's z as Plotly holds it; None where it has no value."""
    return graph(
        page,
        f"""({{ data }}) => data.find(({{ name }}) => name === "{trace}").z
            .map((row) => Array.from(row, (v) => Number.isNaN(v) ? null : v))""",
    )


def pixels(page, clip):
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"), int)


def alike(first, second, tolerance=3):
    """Where two pictures agree, if what lies between two cells may be a pixel off."""
    shifts = [np.roll(second, shift, (0, 1)) for shift in np.ndindex(3, 3)]
    shifts = [np.roll(shifted, (-1, -1), (0, 1)) for shifted in shifts]
    return np.min([np.abs(first - s).max(axis=-1) for s in shifts], axis=0)[2:-2, 2:-2] <= tolerance


def subplot(page, number):
    """Where a heatmap's cells are on the screen."""
    return page.locator(".live-plot-cells").nth(number).bounding_box()


def test_drag_shows_frames_on_the_way_and_the_released_value(page, url, traffic):
    open_demo(page, url, "?rows=256&cols=512")
    before = int(page.get_attribute(".live-plot", "data-painted"))
    traffic.clear()
    drag(page, 0.75, steps=60)
    expect(text(page, "scale")).to_contain_text("scale 3.0")
    page.wait_for_function(
        """() => {
            const { data } = document.querySelector(".js-plotly-plot")
            const trace = data.find(({ name }) => name === "position")
            return Math.abs(trace.z[0][511] + 3) < 1e-3
        }"""
    )
    frames = int(page.get_attribute(".live-plot", "data-painted")) - before
    assert frames >= 5
    assert sum(traffic.sizes) / frames < 30_000
    assert max(traffic.sizes) < 20_000, "an array went through the websocket"


def test_keyboard_number_and_button_move_the_slider(page, url):
    open_demo(page, url)
    scale(page).focus()
    scale(page).press("ArrowRight")
    expect(text(page, "scale")).to_contain_text("scale 1.01")
    scale(page).press("End")
    expect(text(page, "scale")).to_contain_text("scale 4.0")
    number = page.get_by_role("spinbutton", name="Scale")
    number.fill("17")
    number.press("Enter")
    expect(number).to_have_value("4.00")
    number.fill("0.5")
    number.press("Enter")
    expect(text(page, "scale")).to_contain_text("scale 0.5")
    page.get_by_role("button", name="two").click()
    expect(text(page, "scale")).to_contain_text("scale 2.0")
    expect(scale(page)).to_have_value("2")
    expect(scale(page)).to_have_attribute("aria-valuetext", "2.00")
    scale(page).press("ArrowLeft")
    expect(text(page, "scale")).to_contain_text("scale 1.99")


def test_logarithmic_keys_go_to_every_small_number_and_to_powers_of_two(page, url):
    page.goto(f"{url}/?floor=1")
    length = page.get_by_role("slider", name="Length")
    length.press("PageUp")
    expect(text(page, "scale")).to_contain_text("length 256")
    length.press("Home")
    length.press("ArrowRight")
    expect(text(page, "scale")).to_contain_text("length 2")
    length.press("ArrowRight")
    expect(text(page, "scale")).to_contain_text("length 3")
    length.press("End")
    expect(text(page, "scale")).to_contain_text("length 8192")
    expect(length).to_have_attribute("aria-valuetext", "8192 tokens")


def test_slider_is_a_finger_high_and_fits_a_phone(new_page, url):
    page = new_page(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    open_demo(page, url)
    assert scale(page).bounding_box()["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    left = [subplot(page, i)["x"] for i in range(3)]
    assert max(left) - min(left) < 1, "the narrow layout stacks the heatmaps"


def test_zoom_is_reported_kept_over_a_move_and_reset(page, url):
    open_demo(page, url)
    box = subplot(page, 0)
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 150, steps=5)
    page.mouse.up()
    expect(text(page, "zoom")).to_contain_text("xaxis")
    zoom = text(page, "zoom").inner_text()
    drag(page, 0.5)
    expect(text(page, "scale")).to_contain_text("scale 2.0")
    settled(page)
    ranges = graph(
        page,
        """({ _fullLayout: { xaxis, xaxis2, xaxis4 } }) =>
             [xaxis, xaxis2, xaxis4].map((axis) => axis.range)""",
    )
    assert ranges[0] == ranges[1] == ranges[2]
    assert f"{ranges[0][0]}" in zoom
    page.get_by_role("button", name="Reset zoom").click()
    expect(text(page, "zoom")).to_have_text("zoom {}")


def test_hover_and_click_see_true_values(page, url):
    open_demo(page, url)
    box = subplot(page, 1)
    # row 63 of 64 is the topmost, column 127 of 128 the last
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 1)
    expect(page.locator(".hovertext")).to_have_text("row 63, column 127: 1.00")
    page.mouse.down()
    page.mouse.up()
    expect(text(page, "click")).to_contain_text(
        "trace='position', x=127.0, y=63.0, row=63, column=127"
    )


@pytest.mark.parametrize("size", ["?rows=20&cols=30", "?rows=64&cols=128"])
def test_canvas_looks_as_plotly_would_draw_it(page, url, size):
    open_demo(page, url, size)
    ours = [pixels(page, subplot(page, i)) for i in range(3)]
    page.evaluate(
        """async () => {
            const chart = document.querySelector(".live-plot")
            chart.classList.remove("live-plot-painted")
            for (const cells of chart.querySelectorAll(".live-plot-cells"))
                cells.style.visibility = "hidden"
            const graph = chart.querySelector(".js-plotly-plot")
            await Plotly.redraw(graph)
        }"""
    )
    for i, mine in enumerate(ours):
        assert alike(mine, pixels(page, subplot(page, i))).mean() > 0.995


def test_drag_and_rest_look_the_same(page, url):
    open_demo(page, url, "?rows=20&cols=30")
    drag(page, 0.5, release=False)
    expect(text(page, "scale")).to_contain_text("scale 2.0")
    page.wait_for_timeout(700)
    assert page.get_attribute(".live-plot", "data-state") == "moving"
    whole = page.locator(".live-plot").first.bounding_box()
    held = pixels(page, whole)
    cells = [pixels(page, subplot(page, i)) for i in range(3)]
    page.mouse.up()
    page.mouse.move(5, 5)
    settled(page)
    for i, before in enumerate(cells):
        np.testing.assert_array_equal(before, pixels(page, subplot(page, i)))
    # Plotly smooths the edges of its lines a little differently.
    assert alike(held, pixels(page, whole), tolerance=40).mean() > 0.999


def test_missing_values_are_transparent(page, url):
    open_demo(page, url, "?rows=20&cols=30")
    assert values(page, "token")[2][3] is None
    box = subplot(page, 0)
    x, y = box["x"] + 3.5 / 30 * box["width"], box["y"] + box["height"] * (1 - 2.5 / 20)
    seen = pixels(page, {"x": x, "y": y, "width": 1, "height": 1})
    assert (seen == 255).all()


def test_theme_follows_without_the_server(new_page, url):
    page = new_page(color_scheme="dark")
    open_demo(page, url)
    colour = "({ _fullLayout }) => _fullLayout.font.color"
    dark = graph(page, colour)
    page.emulate_media(color_scheme="light")
    eventually(page, lambda: graph(page, colour) != dark, True)


def test_ordinary_figures_and_the_player(page, url):
    open_demo(page, url, "?more=1&rows=20&cols=30")
    for i in range(5):
        page.wait_for_selector(f".live-plot >> nth={i}")
        page.locator(".live-plot").nth(i).locator(".js-plotly-plot").wait_for()
    assert page.get_by_role("img", name="Bars").count() == 1
    snapshot = page.get_by_role("slider", name="Snapshot")
    expect(snapshot).to_have_attribute("aria-valuetext", "step 19")
    snapshot.press("Home")
    expect(snapshot).to_have_attribute("aria-valuetext", "step 0")
    loss = """() => [...[...document.querySelectorAll(".js-plotly-plot")].at(-1).data[1].y]
               .filter(Number.isFinite)"""
    eventually(page, lambda: page.evaluate(loss), [1])
    page.get_by_role("button", name="Play").click()
    expect(snapshot).to_have_attribute("aria-valuetext", "step 19")


def test_parts_that_left_the_shelf_are_asked_for_again(new_page, url):
    page = new_page(tolerate="/assets/live/parts/", cold=True)
    refused = []

    def refuse_first(route):
        if refused:
            return route.continue_()
        refused.append(route.request.url)
        return route.fulfill(status=404)

    page.route(re.compile("/assets/live/parts/"), refuse_first)
    open_demo(page, url)
    assert refused


def test_base_url_path(serve, page):
    url = serve(DEMO, "--server.baseUrlPath=some/where")
    page.goto(f"{url}/some/where/")
    settled(page)
