"""What the pictures' colours, titles, ticks and bars look like: pixels, texts and rectangles."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.on_screen import AT_A_LINK, at_rest, drag, eventually, graph, query, settled

pytestmark = pytest.mark.browser

SCALE = 2
SCALES = ("0", "0.5", "1", "2", "5")
WORDS = (".cbcoloraxis .cbaxis text", ".y4title")  # at the bar's ticks, and the norms' title
Rect = dict[str, float]


def open_page(page: Page, url: str) -> None:
    page.goto(url)
    at_rest(page)


def set_scale(page: Page, scale: str) -> None:
    """Type a scale and wait until its picture is there."""
    field = page.locator("input[type=number]").nth(SCALE)
    field.fill(scale)
    field.press("Enter")
    page.wait_for_function(
        "(scale) => (new URLSearchParams(location.search).get('scale') ?? '1') === scale", arg=scale
    )
    settled(page)


def pixels(page: Page, picture: int) -> list[int]:
    """The colours of a picture's cells."""
    cells: list[int] = (
        page.locator(".live-plot canvas")
        .nth(picture)
        .evaluate(
            """(canvas) => { const { width, height } = canvas
             return [...canvas.getContext('2d').getImageData(0, 0, width, height).data] }"""
        )
    )
    return cells


def rects(page: Page, selector: str) -> list[Rect]:
    """Where elements of the chart are in the window, and what they say."""
    rectangles: list[Any] = page.locator(".live-plot").evaluate(
        """(chart, selector) => [...chart.querySelectorAll(selector)].map((element) => {
             const { left, right, top, bottom } = element.getBoundingClientRect()
             return { left, right, top, bottom, text: element.textContent } })""",
        selector,
    )
    return rectangles


def test_nothing_of_e_changes_while_the_scale_does(page: Page, app: str) -> None:
    open_page(page, app)
    tokens, positions, curves, places = [], {}, {}, []
    for scale in SCALES:
        set_scale(page, scale)
        tokens.append(pixels(page, 0))
        positions[scale] = pixels(page, 1)
        # Of the three lines the first is ‖e‖.
        lines = page.locator(".live-plot .scatterlayer .trace path.js-line")
        curves[scale] = lines.first.get_attribute("d")
        places.append(rects(page, "canvas"))
    assert tokens == [tokens[0]] * len(SCALES)
    assert places == [places[0]] * len(SCALES)
    assert curves["0"] == curves["0.5"] == curves["1"] == curves["2"] != curves["5"]
    # s·p, twice as large, has more colour: its green dimension is farther from white.
    greens = {scale: sum(positions[scale][1::4]) for scale in SCALES}
    assert greens["0"] > greens["0.5"] > greens["1"] > greens["2"] > greens["5"]


def test_what_lies_beyond_is_said_at_the_bars_ends_and_below(page: Page, app: str) -> None:
    open_page(page, f"{app}/?scale=0&token_std=0.1")
    ends = [label["text"] for label in rects(page, ".cbcoloraxis .cbaxis text")][::4]
    assert ends == ["−1", "1"]
    expect(page.get_by_text("Colours end at ±1, and no cell lies beyond.")).to_be_visible()
    open_page(page, app)
    set_scale(page, "5")
    ends = [label["text"] for label in rects(page, ".cbcoloraxis .cbaxis text")][::4]
    assert ends == ["≤ −1.5", "≥ 1.5"]
    caption = page.get_by_text("Colours end at ±1.5;")
    assert "of 24,576 cells lie beyond, the farthest at " in caption.inner_text()
    assert graph(page, "({ _fullLayout }) => _fullLayout.yaxis4.title.text") == "norm (axis × 2)"


def test_a_dragged_scale_moves_no_colour_and_no_width(page: Page, app: str) -> None:
    open_page(page, app)
    tokens, places = pixels(page, 0), rects(page, "canvas")
    drag(page, SCALE, 0.2, 0.95, steps=8, release=False)
    settled(page, ())
    assert pixels(page, 0) == tokens
    assert rects(page, "canvas") == places
    # The words follow past Plotly, which draws all of it at rest.
    texts = [[label["text"] for label in rects(page, words)] for words in WORDS]
    assert [texts[0][0], texts[0][-1], *texts[1]] == ["≤ −1.5", "≥ 1.5", "norm (axis × 2)"]
    page.mouse.up()
    at_rest(page)
    assert [[label["text"] for label in rects(page, words)] for words in WORDS] == texts
    assert pixels(page, 0) == tokens


def test_colours_fit_at_a_press_and_a_link_keeps_it(page: Page, app: str) -> None:
    end = "({ _fullLayout }) => _fullLayout.coloraxis.cmax"
    open_page(page, f"{app}/?scale=5")
    assert graph(page, end) == 1.5
    page.get_by_role("button", name="Fit colours").click()
    page.wait_for_url("**fit=5**")
    settled(page)
    eventually(page, lambda: graph(page, end) >= 5, True)
    fitted = graph(page, end)
    set_scale(page, "2")
    eventually(page, lambda: graph(page, end), fitted)
    page.reload()
    at_rest(page)
    eventually(page, lambda: graph(page, end), fitted)
    page.get_by_role("button", name="Reset colours").click()
    page.wait_for_function("() => !location.search.includes('fit')")
    settled(page)
    eventually(page, lambda: graph(page, end), 1.5)
    assert query(page) == {"scale": ["2"]}


SIZES = [("", 1280, 800), ("", 390, 844), ("&present=true", 1280, 800)]


@pytest.mark.parametrize(("shell", "width", "height"), SIZES)
@pytest.mark.parametrize("encoding", ["sinusoidal", "rope", "alibi"])
def test_titles_stand_over_the_middle_and_bars_are_whole(
    page: Page, app: str, encoding: str, shell: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    open_page(page, f"{app}/?encoding={encoding}&scale=5{shell}")
    settled(page)
    titles = rects(page, ".annotation-text-g text")
    pictures = rects(page, "canvas")
    words = ("token e", {"sinusoidal": "s·p", "rope": "rotation", "alibi": "bias"}[encoding], "h")
    if width < 640:  # named by their symbols
        words = ("e", {"sinusoidal": "s·p", "rope": "cos", "alibi": "s·b"}[encoding], "h")
        pictures = rects(page, ".live-plot-cells")
    for word, picture in zip(words, pictures, strict=True):
        middle = (picture["left"] + picture["right"]) / 2
        over = [
            title
            for title in titles
            if word in str(title["text"]) and abs(title["bottom"] - picture["top"]) < 30
        ]
        offsets = [abs((title["left"] + title["right"]) / 2 - middle) for title in over]
        assert offsets, f"no title {word!r} over its picture: {titles}"
        assert min(offsets) < 2
    bars = ["coloraxis"] + (["coloraxis2"] if encoding != "sinusoidal" else [])
    for bar in bars:
        labels = rects(page, f".cb{bar} .cbaxis text")
        assert len(labels) == 5
        for label in labels:
            assert 0 <= label["left"] < label["right"] <= width, label
            for picture in rects(page, ".live-plot-cells"):
                apart = label["left"] >= picture["right"] or label["right"] <= picture["left"]
                assert (
                    apart
                    or label["top"] >= picture["bottom"]
                    or (label["bottom"] <= picture["top"])
                ), (label, picture)


def test_one_position_is_a_marked_point_and_ticks_are_whole(page: Page, app: str) -> None:
    open_page(page, f"{app}/?length=1&dimension=4")
    assert len(rects(page, ".scatterlayer path.point")) == 3
    ticks = [tick["text"] for tick in rects(page, ".xtick text, .x4tick text, .ytick text")]
    assert set(ticks) == {"0", "1", "2", "3"}


def test_marked_points_move_with_the_scale(page: Page, app: str) -> None:
    open_page(page, f"{app}/?length=4&dimension=8")
    before = rects(page, ".scatterlayer .trace:nth-of-type(2) path.point")
    drag(page, SCALE, 0.2, 0.39, steps=6, release=False)
    settled(page, ())
    moving = rects(page, ".scatterlayer .trace:nth-of-type(2) path.point")
    assert all(now["top"] < was["top"] - 5 for was, now in zip(before, moving, strict=True))
    page.mouse.up()
    at_rest(page)
    still = rects(page, ".scatterlayer .trace:nth-of-type(2) path.point")
    assert [point["top"] for point in still] == pytest.approx(
        [point["top"] for point in moving], abs=1
    )


# --- every page: titles, bars, ticks, and what stands still ---

PATHS = [
    "?encoding=alibi",
    "attention?causal=true",
    "attention?view=distance",
    "attention?view=shuffle",
    "compare",
    "compare?view=norms",
    "long-context",
    "table",
    "table?view=lookup",
    "table?view=gradient",
    "table?view=compare",
    "table?view=measures&measure=similarity",
    "table?view=measures&measure=waves",
    "table?view=measures&measure=norms",
]


def open_charts(page: Page, url: str) -> None:
    """Go to a page that has any number of charts."""
    page.goto(url)
    expect(page.locator(".live-plot[data-state=rest]").first).to_be_visible()
    settled(page)


def areas(page: Page) -> list[Rect]:
    """Where the pictures of all charts are in the window."""
    boxes: list[Rect] = page.evaluate(
        """[...document.querySelectorAll('.live-plot .draglayer .nsewdrag')].map((area) => {
             const { left, right, top, bottom } = area.getBoundingClientRect()
             return { left, right, top, bottom } })"""
    )
    return boxes


def titles(page: Page) -> list[Any]:
    """The same of the bold words of charts, with the words."""
    labels: list[Any] = page.evaluate(
        """[...document.querySelectorAll('.live-plot .annotation-text-g text')]
             .filter((text) => text.querySelector('[style*=bold]'))
             .map((text) => {
               const { left, right, top, bottom } = text.getBoundingClientRect()
               return { left, right, top, bottom, words: text.textContent } })"""
    )
    return labels


def ticks(page: Page) -> list[str]:
    """The labels of the positions and dimensions of the first picture."""
    labels: list[str] = page.locator(".live-plot").first.evaluate(
        """(chart) => [...chart.querySelectorAll('.xtick text, .ytick text')]
             .map(({ textContent }) => textContent)"""
    )
    return labels


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("path", PATHS)
def test_every_title_is_over_its_picture_and_bars_are_whole(
    new_page: Any, app: str, path: str, width: int, height: int
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": width, "height": height})
    open_charts(page, f"{app}/{path}")
    pictures = areas(page)
    # What stands in an empty place, and not over a picture, says from what it differs.
    over = [title for title in titles(page) if not title["words"].startswith("difference")]
    assert over
    for title in over:
        middle = (title["left"] + title["right"]) / 2
        beneath = [
            area
            for area in pictures
            if -1 <= area["top"] - title["bottom"] < 50 and area["left"] < middle < area["right"]
        ]
        offsets = [abs(middle - (area["left"] + area["right"]) / 2) for area in beneath]
        assert offsets, title
        assert min(offsets) < 2, title
    for bar in page.locator(".live-plot .infolayer > g[class*=cb]").all():
        labels = bar.locator(".cbaxis text")
        boxes: list[Any] = [label.bounding_box() for label in labels.all()]
        fills = bar.locator(".cbfills").bounding_box()
        assert fills
        for box in boxes:
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            hits = [
                area
                for area in pictures
                if area["left"] < box["x"] + box["width"] - 1
                and box["x"] + 1 < area["right"]
                and area["top"] < box["y"] + box["height"] - 1
                and box["y"] + 1 < area["bottom"]
            ]
            assert not hits, labels.all_inner_texts()
        along = "width" if fills["width"] > fills["height"] else "height"
        side = "x" if along == "width" else "y"
        centres = [box[side] + box[along] / 2 for box in boxes]
        if len(boxes) > 1:  # cells that are all alike have one label
            assert abs(min(centres) - fills[side]) < 4
            assert abs(max(centres) - fills[side] - fills[along]) < 4


def zoom_in(page: Page, pixels: int) -> None:
    """Pull a small rectangle open in the middle of the first picture."""
    area = areas(page)[0]
    width, height = area["right"] - area["left"], area["bottom"] - area["top"]
    x, y = area["left"] + width / 2, area["top"] + height / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + pixels, y + pixels, steps=5)
    page.mouse.up()
    expect(page.get_by_role("button", name="Reset zoom").first).to_be_visible()
    settled(page)


ZOOMED = ["?length=32&dimension=16", "table?view=measures&measure=similarity&max_seq_len=32"]


@pytest.mark.parametrize("path", ZOOMED)
def test_ticks_are_whole_at_any_zoom_and_after_it(new_page: Any, app: str, path: str) -> None:
    page = new_page(tolerate=AT_A_LINK)
    open_charts(page, f"{app}/{path}")
    before = ticks(page)
    zoom_in(page, 28)
    near = ticks(page)
    assert near != before
    assert len(near) >= 2
    assert all(re.fullmatch(r"−?\d+", words) for words in near), near
    page.get_by_role("button", name="Reset zoom").first.click()
    eventually(page, lambda: ticks(page), before)


def test_a_link_into_a_window_has_whole_ticks_while_the_scale_moves(page: Page, app: str) -> None:
    open_page(page, f"{app}/?zoom=3_5_2_4")
    for release in (False, True):
        drag(page, SCALE, 0.2, 0.5, steps=4, release=release)
        settled(page, ())
        assert set(ticks(page)) == {"2", "3", "4", "5"}


@pytest.mark.parametrize(
    "path",
    [
        "table?view=measures&measure=norms&max_seq_len=8",
        "?length=1",
        "compare?view=norms&length=16",
    ],
)
def test_points_of_short_lines_are_marked(new_page: Any, app: str, path: str) -> None:
    page = new_page(tolerate=AT_A_LINK)
    open_charts(page, f"{app}/{path}")
    boxes = [point.bounding_box() for point in
             page.locator(".live-plot .scatterlayer path.point").all()]  # fmt: skip
    assert boxes
    assert all(box and box["width"] > 4 for box in boxes)


SLIDERS = ["", "?encoding=rope", "?encoding=alibi", "attention", "long-context",
           "table?view=lookup"]  # fmt: skip


@pytest.mark.parametrize("path", SLIDERS)
def test_nothing_changes_its_width_while_a_slider_moves(new_page: Any, app: str, path: str) -> None:
    page = new_page(tolerate=AT_A_LINK)
    open_charts(page, f"{app}/{path}")

    def widths() -> list[Any]:
        seen: list[Any] = page.evaluate(
            """[...document.querySelectorAll('.live-plot .nsewdrag, .live-plot, '
                 + '[data-testid=stSelectbox], [data-testid=stColumn]')].map((element) => {
                 const { left, right } = element.getBoundingClientRect()
                 return [element.dataset.subplot ?? element.className, left, right] })"""
        )
        return seen

    sliders = page.locator("input[type=range]")
    assert sliders.count()
    for index in range(sliders.count()):
        sliders.nth(index).scroll_into_view_if_needed()
        before = widths()
        for start, end in ((0.3, 0.95), (0.95, 0.05)):
            drag(page, index, start, end, steps=6, release=False)
            settled(page, ())
            assert widths() == before
            page.mouse.up()
            settled(page)
            assert widths() == before


# --- the theme in use, and quantities that are never below 0 ---

GROUND = {"light": "dark", "dark": "light"}  # which side of grey a value far from 0 is on
MIDDLE = 0.4


def lightness(pixel: list[int]) -> float:
    red, green, blue, _ = pixel
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def seen_cells(page: Page, trace: str, picture: int) -> list[tuple[float, float]]:
    """Each cell of a heatmap: its value in Plotly, and how light its pixel is."""
    values: list[list[float | None]] = graph(
        page,
        f"""({{ _fullData }}) => _fullData.find(({{ name }}) => name === '{trace}').z
             .map((row) => [...row].map((value) => Number.isFinite(value) ? value : null))""",
    )
    size = page.locator(".live-plot canvas").nth(picture).evaluate("(c) => [c.width, c.height]")
    assert size == [len(values[0]), len(values)], "the canvas has a pixel for each cell"
    flat = [value for row in values for value in row]
    colours = pixels(page, picture)
    return [
        (value, lightness(colours[4 * index : 4 * index + 4]))
        for index, value in enumerate(flat)
        if value is not None
    ]


@pytest.mark.parametrize("theme", GROUND)
def test_zero_is_the_ground_in_either_theme(new_page: Any, app: str, theme: Any) -> None:
    page = new_page(color_scheme=theme)
    open_page(page, f"{app}/?scale=0&length=32&dimension=16")
    empty = [light for _, light in seen_cells(page, "position", 1)]
    assert (min(empty) > 0.9) if theme == "light" else (max(empty) < 0.15)
    cells = seen_cells(page, "token", 0)
    near = [light for value, light in cells if abs(value) < 0.05]
    far = [light for value, light in cells if abs(value) > 1.2]
    assert near
    assert far
    assert (min(near) > max(far)) if theme == "light" else (max(near) < min(far))


def test_another_theme_repaints_what_is_there(page: Page, app: str) -> None:
    page.emulate_media(color_scheme="light")
    open_page(page, f"{app}/?scale=0&length=32&dimension=16")
    assert lightness(pixels(page, 1)[:4]) > 0.9
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        """() => { const canvas = document.querySelectorAll('.live-plot canvas')[1]
             return canvas.getContext('2d').getImageData(0, 0, 1, 1).data[0] < 40 }"""
    )
    settled(page)
    assert lightness(pixels(page, 1)[:4]) < 0.15


UNSIGNED = [
    ("table?view=measures&measure=waves&source=formula", "amplitude", 0),
    ("attention?encodings=none", "weights 0", 0),
]


@pytest.mark.parametrize("theme", GROUND)
@pytest.mark.parametrize(("path", "trace", "picture"), UNSIGNED)
def test_what_is_never_below_zero_begins_at_the_ground(
    new_page: Any, app: str, theme: Any, path: str, trace: str, picture: int
) -> None:
    page = new_page(tolerate=AT_A_LINK, color_scheme=theme)
    open_page(page, f"{app}/{path}")
    cells = sorted(seen_cells(page, trace, picture))
    assert cells[0][0] >= 0
    peak = cells[-1][0]
    least, greatest = cells[0], cells[-1]
    if least[0] < 0.05 * peak:
        assert (least[1] > 0.85) if theme == "light" else (least[1] < 0.2)
    assert (greatest[1] < MIDDLE) if theme == "light" else (greatest[1] > MIDDLE)
    # Nothing of the half below zero is used: the greater, the farther from the ground.
    rising = [light if theme == "dark" else -light for _, light in cells]
    assert all(now <= later + 0.02 for now, later in itertools.pairwise(rising))
