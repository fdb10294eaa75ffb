"""Lessons, the projector's view and locked links as a class meets them, by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
import segno
from playwright.sync_api import Page, expect

from pages._ui.lessons.files import Lesson, Step, lessons
from pages._ui.site import FOLDER, PAGES
from tests.on_screen import AT_A_LINK, eventually, query, settled

pytestmark = pytest.mark.browser

STEP = "/?encoding=learned&length=10&lesson=handbook-combining.1"


def open_page(page: Page, url: str) -> None:
    """Go there and wait until a picture is painted and at rest."""
    page.goto(url)
    page.locator(".live-plot[data-state=rest]").first.wait_for()


def arrive(page: Page, lesson: Lesson, number: int) -> None:
    """Wait for a step: its place, its sentence, the one thing it points at."""
    expect(page.get_by_text(f"{lesson.title} · {number} of {len(lesson.steps)}")).to_be_visible()
    expect(page.locator("[data-pointed]")).to_have_count(1)
    expect(page.locator("[data-pointed]")).to_be_visible()
    expect(page.get_by_role("button", name="Look at:")).to_be_visible()


def answer(page: Page, step: Step) -> None:
    """Say something, by keyboard, and see the computed value beside it."""
    if step.ask is None:
        return
    expect(page.get_by_text("Computed just now")).to_have_count(0)
    if step.ask.options:
        page.get_by_role("radio").first.focus()
        page.keyboard.press("Space")
    else:
        page.get_by_label(step.ask.question).focus()
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
    expect(page.get_by_text("Computed just now")).to_be_visible()


@pytest.mark.parametrize("slug", lessons())
def test_a_lesson_runs_to_its_end_by_keyboard(page: Page, app: str, slug: str) -> None:
    lesson = lessons()[slug]
    open_page(page, app)
    page.get_by_role("link", name="Lessons").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name=lesson.title).focus()
    page.keyboard.press("Enter")
    for number, step in enumerate(lesson.steps, 1):
        arrive(page, lesson, number)
        expect(page).to_have_url(re.compile(rf"lesson={slug}\.{number}"))
        wanted = {**step.params, "lesson": f"{slug}.{number}"}
        assert query(page) == {name: [value] for name, value in wanted.items()}
        answer(page, step)
        if step.ask is not None:
            expect(page.get_by_text(step.ask.because)).to_be_visible()
        page.keyboard.press("n")
    expect(page.get_by_role("heading", name="Lessons")).to_be_visible()
    assert query(page) == {}
    expect(page.get_by_text(f"{lesson.title} Now you know: {lesson.know}")).to_be_visible()
    # This browser remembers it, and no other lesson.
    eventually(page, lambda: ticked(page), [slug])


def ticked(page: Page) -> list[str]:
    """The lessons that have a tick in the list."""
    return [
        slug
        for slug in lessons()
        if "✓"
        in page.locator(f".st-key-go-{slug} button p").evaluate(
            "(title) => getComputedStyle(title, '::after').content"
        )
    ]


def test_a_lessons_end_leads_to_the_next(new_page: Callable[..., Page], app: str) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": 1280, "height": 500})
    lesson = lessons()["frequencies"]
    last = len(lesson.steps)
    open_page(page, f"{app}/lesson?lesson=frequencies.{last}&present=true")
    expect(page.get_by_role("button", name="All lessons")).to_be_visible()
    page.keyboard.press("n")
    # At the top of the page, whatever was scrolled to before; a projector shows it, too.
    following = page.get_by_role("button", name="Next lesson: What is √d for?")
    for part in (page.get_by_text(f"Now you know: {lesson.know}"), following):
        expect(part.first).to_be_in_viewport(ratio=1)
    page.keyboard.press("n")
    page.wait_for_url("**lesson=square-root.1**")
    assert query(page)["present"] == ["true"]


def test_what_a_student_changes_can_be_undone_and_back_goes_back(page: Page, app: str) -> None:
    lesson = lessons()["handbook-combining"]
    open_page(page, app + STEP)
    page.locator("input[type=range]").nth(2).focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"scale=1\.01"))
    page.keyboard.press("a")
    expect(page).not_to_have_url(re.compile("scale"))
    expect(page.locator("input[type=number]").nth(2)).to_have_value("1.00")
    page.keyboard.press("n")
    arrive(page, lesson, 2)
    page.keyboard.press("b")
    arrive(page, lesson, 1)


def test_the_button_goes_to_what_is_pointed_at(page: Page, app: str) -> None:
    open_page(page, f"{app}/?encoding=learned&length=10&scale=2&lesson=handbook-combining.3")
    page.get_by_role("button", name="Look at: scale").click()
    focused = page.evaluate(
        "document.activeElement.shadowRoot?.activeElement?.getAttribute('aria-label')"
    )
    assert focused == "Scale s"


def test_a_lesson_that_is_not_there_is_said_to_be_missing(page: Page, app: str) -> None:
    open_page(page, f"{app}/?lesson=beauty.1")
    expect(page.get_by_role("alert")).to_contain_text("beauty")
    open_page(page, f"{app}/?lesson=square-root.99")
    expect(page.get_by_role("alert")).to_contain_text("steps 1 to 4")


def sizes(page: Page) -> tuple[float, float]:
    """Type on the page and in the picture, in CSS pixels."""
    return tuple(
        page.evaluate(
            """() => [document.documentElement, document.querySelector('.live-plot .xtick text')]
                 .map((node) => parseFloat(getComputedStyle(node).fontSize))"""
        )
    )


def test_one_key_is_for_the_projector_and_leaves_it(page: Page, app: str) -> None:
    open_page(page, app + STEP)
    small = sizes(page)
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("present=true"))
    page.wait_for_function("() => document.documentElement.hasAttribute('data-present')")
    settled(page)
    large = sizes(page)
    # The picture's type grows as far as the whole of it still fits into the window.
    assert large[0] > 1.3 * small[0]
    assert large[1] > 1.2 * small[1]
    # The sentence, the controls, the picture and the numbers pointed at, and nothing else.
    expect(page.get_by_role("paragraph").filter(has_text="Ten tokens of 64")).to_be_visible()
    expect(page.locator("table")).to_be_visible()
    expect(page.get_by_text("Each cell is one value.")).to_be_hidden()
    expect(page.get_by_role("link", name="Table")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile(r"handbook-combining\.2.*present=true"))
    expect(page.locator("table")).to_be_hidden()
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile(r"handbook-combining\.1.*present=true"))
    page.keyboard.press("p")
    expect(page).not_to_have_url(re.compile("present"))
    expect(page.get_by_text("Each cell is one value.")).to_be_visible()
    eventually(page, lambda: sizes(page), small)


def test_a_projector_shows_the_menu_on_demand(page: Page, app: str) -> None:
    open_page(page, f"{app}/?scale=2&present=true")
    dialog = page.get_by_role("dialog")
    for name, url in (("Table", r"/table\?present=true$"), ("Combine", "scale=2.*present=true")):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
        page.keyboard.press("m")
        expect(dialog.get_by_role("link")).to_have_count(len(PAGES))
        dialog.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(url))
        expect(dialog).to_have_count(0)
        page.wait_for_function("() => document.documentElement.hasAttribute('data-present')")
        settled(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_code_holds_the_link_in_the_address_bar_for_the_room(
    new_page: Callable[..., Page], serve: Callable[..., str], scheme: str
) -> None:
    app = serve(FOLDER.parent / "app.py", STREAMLIT_BROWSER_SERVER_ADDRESS="192.168.7.20")
    page = new_page(viewport={"width": 1024, "height": 768}, color_scheme=scheme)
    open_page(page, app + STEP)
    page.locator("input[type=range]").nth(2).focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"scale=1\.01"))
    page.keyboard.press("q")
    image = page.get_by_role("img", name="QR code of")
    expect(image).to_be_visible()
    eventually(
        page,
        lambda: unquote(image.get_attribute("alt").removeprefix("QR code of ")),
        unquote(page.url).replace("127.0.0.1", "192.168.7.20"),
    )
    link = image.get_attribute("alt").removeprefix("QR code of ")
    # What is painted is that link's code: dark and light where its modules are.
    modules = [[bool(cell) for cell in row] for row in segno.make_qr(
        link, error="l", boost_error=False).matrix]  # fmt: skip
    assert painted_modules(page, len(modules)) == modules
    box = image.bounding_box()
    assert box["height"] >= 500
    assert box["y"] + box["height"] <= 768


def test_a_server_for_one_computer_says_how_to_get_a_code(page: Page, app: str) -> None:
    open_page(page, app + STEP)
    page.keyboard.press("q")
    expect(page.get_by_role("dialog")).to_contain_text("--server.address 0.0.0.0")
    expect(page.get_by_role("img", name="QR code of")).to_have_count(0)


def painted_modules(page: Page, count: int) -> list[list[bool]]:
    """Which modules of the code on the screen are dark; four modules around it are light."""
    return page.evaluate(
        """(count) => { const image = document.querySelector('.st-key-code img')
             const side = image.naturalWidth
             const size = { width: side, height: side }
             const canvas = Object.assign(document.createElement('canvas'), size)
             const context = canvas.getContext('2d')
             context.drawImage(image, 0, 0, side, side)
             const step = side / (count + 8)
             const at = (k) => Math.floor((k + 4.5) * step)
             const dark = (x, y) => context.getImageData(at(x), at(y), 1, 1).data[0] < 128
             const all = [...Array(count).keys()]
             return all.map((y) => all.map((x) => dark(x, y))) }""",
        count,
    )


def test_a_link_hides_and_locks_controls(page: Page, app: str) -> None:
    open_page(page, f"{app}/?encoding=rope&length=40&hide=encoding,scale,pairing&lock=length,at")
    expect(page.get_by_label("Encoding")).to_have_count(0)
    expect(page.locator("input[type=range]")).to_have_count(2)
    expect(page.locator("input[type=range]").nth(0)).to_be_disabled()
    expect(page.locator("input[type=range]").nth(1)).to_be_enabled()
    page.locator("input[type=range]").nth(1).focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("dimension="))
    now = query(page)
    assert (now["encoding"], now["length"], now["lock"]) == (["rope"], ["40"], ["length,at"])
    page.get_by_role("button", name="More").click()
    expect(page.get_by_label("Numbers at positions", exact=True)).to_be_disabled()
    expect(page.get_by_label("Pair layout")).to_have_count(0)


def test_a_link_that_hides_what_is_not_there_says_so(page: Page, app: str) -> None:
    open_page(page, f"{app}/?hide=beauty")
    expect(page.get_by_role("alert")).to_contain_text("beauty")


def test_a_lesson_works_inside_slides(page: Page, app: str) -> None:
    open_page(page, f"{app}{STEP}&present=true&embed=true")
    expect(page.get_by_role("paragraph").filter(has_text="Ten tokens of 64")).to_be_visible()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"handbook-combining\.2"))
    expect(page).to_have_url(re.compile("embed=true"))
    expect(page.get_by_test_id("stMainMenu")).to_have_count(0)


def test_an_embedded_page_has_no_menu(page: Page, app: str) -> None:
    open_page(page, f"{app}/?embed=true")
    expect(page.get_by_role("link", name="Attention")).to_have_count(0)


def test_a_short_link_opens_a_lesson_at_a_step(new_page: Callable[..., Page], app: str) -> None:
    page = new_page(tolerate=AT_A_LINK)
    page.goto(f"{app}/lesson?lesson=handbook-combining&step=2")
    arrive(page, lessons()["handbook-combining"], 2)
    expect(page).to_have_url(re.compile(r"lesson=handbook-combining\.2"))


def test_every_step_shows_its_sentence_and_what_it_points_at(
    new_page: Callable[..., Page], app: str
) -> None:
    page = new_page(tolerate=AT_A_LINK, viewport={"width": 1280, "height": 800})
    faults = []
    for slug, lesson in lessons().items():
        page.goto(f"{app}/lesson?lesson={slug}")
        for number in range(1, len(lesson.steps) + 1):
            arrive(page, lesson, number)
            settled(page)
            faults += [f"{slug}.{number}: {fault}" for fault in unseen(page)]
            page.keyboard.press("n")
    assert not faults, "\n".join(faults)


def unseen(page: Page) -> list[str]:
    """What of a step isn't in the window, or is but can't be told from the rest."""
    return page.evaluate(
        """() => {
             const faults = []
             const target = document.querySelector('[data-pointed]')
             const bar = document.querySelector('.st-key-lesson').getBoundingClientRect()
             const check = (name, { left, top, right, bottom }) => {
               if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight)
                 faults.push(`${name} from ${Math.round(top)} to ${Math.round(bottom)}`) }
             check('bar', bar)
             const rect = target.getBoundingClientRect()
             check('target', rect)
             if (rect.top < bar.bottom && rect.bottom > bar.top) faults.push('the bar covers it')
             const sentence = document.querySelector('.st-key-lesson')
             const over = document.elementFromPoint(bar.left + bar.width / 2, bar.top + 4)
             if (!sentence.contains(over)) faults.push('something covers the bar')
             const seen = (when) => {
               const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(target)
               const [red, green, blue, alpha = 1] = outlineColor.match(/[\\d.]+/g).map(Number)
               const primary = [...document.querySelectorAll('.stage')].map((stage) =>
                 getComputedStyle(stage).getPropertyValue('--st-primary-color').trim())[0]
               const wanted = [1, 3, 5].map((at) => parseInt(primary.slice(at, at + 2), 16))
               const same = [red, green, blue].join() === wanted.join() && alpha === 1
               if (outlineStyle !== 'dashed' || parseFloat(outlineWidth) < 3 || !same)
                 faults.push(`${when}: outline ${outlineWidth} ${outlineStyle} ${outlineColor}`) }
             seen('at rest')
             target.tabIndex = target.tabIndex < 0 ? -1 : target.tabIndex
             target.focus({ preventScroll: true })
             seen('focused')
             return faults }"""
    )


def test_the_browsers_back_goes_through_a_lesson(new_page: Callable[..., Page], app: str) -> None:
    lesson = lessons()["last-row"]  # over three pages
    page = new_page(tolerate=AT_A_LINK)
    open_page(page, app)
    page.get_by_role("link", name="Lessons").click()
    page.get_by_role("button", name=lesson.title).click()
    addresses = []
    for number in range(1, len(lesson.steps) + 1):
        arrive(page, lesson, number)
        settled(page)
        addresses.append(page.url)
        if number < len(lesson.steps):
            page.keyboard.press("n")

    def is_step(number: int) -> None:
        arrive(page, lesson, number)
        settled(page)
        step = lesson.steps[number - 1]
        assert page.url == addresses[number - 1]
        wanted = {**step.params, "lesson": f"{lesson.slug}.{number}"}
        assert query(page) == {name: [value] for name, value in wanted.items()}
        assert step.refused == (page.get_by_role("alert").count() > 0)

    for number in range(len(lesson.steps) - 1, 0, -1):
        page.go_back()
        is_step(number)
    for number in range(2, len(lesson.steps) + 1):
        page.go_forward()
        is_step(number)
