"""Frames painted while the scale is dragged, in Chromium."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from playwright.sync_api import Page

from benchmarks import servers
from benchmarks.browser import LIVE, TEXT, Watched, chromium
from benchmarks.interaction import SIZES, query
from benchmarks.report import Section

SECONDS = 3.0
SWINGS = 2  # there and back again in these seconds
WHY = (
    "Streamlit's own work, of which the floor is made, is the same here; on top come 4 to 8 ms of "
    "the server, 6 ms for cells and curves in the page's main thread, and some 10 ms for painting "
    "and composing them without a GPU, on the two cores that server, browser and driver share"
)


def run(quick: bool) -> Section:
    """The app at three sizes and the floor, by turns."""
    section = Section("drag")
    sizes = SIZES[:2] if quick else SIZES
    rounds = 2 if quick else 12
    with (
        servers.serving(servers.APP) as app,
        servers.serving(servers.FLOOR) as floor,
        chromium() as browser,
    ):
        pages = {"floor": Watched(browser, floor.url, TEXT)}
        for length, dimension in sizes:
            url = f"{app.url}/?{query(length, dimension)}"
            pages[f"{length} × {dimension}"] = Watched(browser, url, LIVE)
        rates: dict[str, list[float]] = {name: [] for name in pages}
        landed = 0
        for page in pages.values():  # until V8 has compiled what a drag needs often
            drag(page, end=0.5)
        for turn in range(rounds):
            first = turn % len(
                pages
            )  # a different one each time, in case one leaves work for the next
            for name, page in [*pages.items()][first:] + [*pages.items()][:first]:
                rates[name].append(drag(page, end=0.3 + 0.05 * turn))
                landed += name == "floor" or has_landed(page.page)
    middle = {name: median(values) for name, values in rates.items()}
    floor_rate = middle.pop("floor")
    section.add("frames a second, floor (one line of text)", f"{floor_rate:.1f}")
    for name, rate in middle.items():
        section.add(
            f"frames a second, {name}, three heatmaps and the norms",
            f"{rate:.1f}, {rate / floor_rate:.2f} × the floor",
            "≥ 0.7 × the floor",
            met=rate >= 0.7 * floor_rate,
            why=WHY,
        )
    releases = rounds * len(pages)
    section.add("releases that landed", f"{landed} of {releases}", "all", met=landed == releases)
    return section


def drag(watched: Watched, end: float, seconds: float = SECONDS) -> float:
    """Drag the scale with the mouse, release it at the fraction `end`; frames painted a second."""
    page = watched.page
    page.bring_to_front()
    watched.rest()
    box = watched.slider().bounding_box()
    assert box, "the slider can't be seen"

    def go(to: Callable[[float, float], None], share: float) -> None:
        to(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)

    go(page.mouse.move, 0.2)
    page.mouse.down()
    before, start = watched.frames(), time.perf_counter()
    while (gone := time.perf_counter() - start) < seconds:
        phase = gone / seconds * SWINGS % 1
        go(page.mouse.move, 0.2 + 0.6 * (1 - abs(2 * phase - 1)))
        page.wait_for_timeout(12)
    frames, gone = watched.frames() - before, time.perf_counter() - start
    go(page.mouse.move, end)
    page.mouse.up()
    return frames / gone


def has_landed(page: Page) -> bool:
    """Wait until number, URL and picture show the same scale, and return True."""
    shown = float(page.locator("input[type=number]").nth(2).input_value())
    # 1 is the default, which the URL leaves out.
    sentence = f"scale {shown:g},"
    url = f"(new URLSearchParams(location.search).get('scale') ?? '1') === '{shown:g}'"
    alt = f"document.querySelector('.live-plot-layer').ariaLabel.includes({sentence!r})"
    page.wait_for_function(f"{url} && {alt}", timeout=10_000)
    return True
