"""From a moved slider to the new picture on the screen, in Chromium."""

from __future__ import annotations

from statistics import median

from benchmarks import servers
from benchmarks.browser import CHART, LIVE, TEXT, Watched, chromium
from benchmarks.report import Section

SIZES = ((128, 64), (2048, 1024), (8192, 4096))
NAIVE_SIZES = SIZES[:2]  # 8192 × 4096 makes a message of 456 MB; Streamlit refuses above 200
MIDDLE = "2048 × 1024"


def run(quick: bool) -> Section:
    """One step of the scale: the app at three sizes, the floor, the naive page at two."""
    section = Section("interaction")
    sizes = SIZES[:2] if quick else SIZES
    rounds = 3 if quick else 15
    with (
        servers.serving(servers.APP) as app,
        servers.serving(servers.FLOOR) as floor,
        servers.serving(servers.NAIVE) as naive,
        chromium() as browser,
    ):
        pages = {"floor": Watched(browser, floor.url, TEXT)}
        for size in sizes:
            pages[_name(*size)] = Watched(browser, f"{app.url}/?{query(*size)}", LIVE)
        naives = {
            _name(*size): Watched(browser, f"{naive.url}/?{query(*size)}", CHART)
            for size in NAIVE_SIZES
        }
        times: dict[str, list[float]] = {name: [] for name in pages}
        slow: dict[str, list[float]] = {name: [] for name in naives}
        for turn in range(rounds):
            key = "ArrowRight" if turn % 2 == 0 else "ArrowLeft"
            for name, page in pages.items():
                times[name].append(page.press(key))
            if turn < max(3, rounds // 3):
                for name, page in naives.items():
                    slow[name].append(page.press(key))
    _rows(section, times, slow)
    return section


def query(length: int, dimension: int) -> str:
    return f"length={length}&dimension={dimension}"


def _rows(section: Section, times: dict[str, list[float]], slow: dict[str, list[float]]) -> None:
    floor = median(times.pop("floor"))
    section.add("a scale's step → painted, floor (one line of text)", f"{floor:.0f} ms")
    for name, values in times.items():
        ours = median(values)
        section.add(
            f"a scale's step → painted, {name}",
            f"{ours:.0f} ms, {ours / floor:.2f} × the floor",
            "≤ 2 × the floor",
            met=ours <= 2 * floor,
        )
    for name, values in slow.items():
        theirs, ours = median(values), median(times[name])
        wanted = name == MIDDLE
        section.add(
            f"the naive page (`px.imshow`, one picture), {name}",
            f"{theirs:.0f} ms, {theirs / ours:.1f} × ours",
            "≥ 15 × ours" if wanted else "",
            met=theirs >= 15 * ours if wanted else None,
        )


def _name(length: int, dimension: int) -> str:
    return f"{length} × {dimension}"
