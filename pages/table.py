"""The learned table: noise, training, one row's lookup, a real model's table, your own file."""

from __future__ import annotations

import math
from collections.abc import Callable

import streamlit as st

from pages._ui import live
from pages._ui.about import about, of_family
from pages._ui.controls import Link, choose_view, setting, slider
from pages._ui.server import cached
from pages._ui.table.film import show_training
from pages._ui.table.pictures import (
    LOOKUP,
    comparison_chart,
    gradient_chart,
    lookup_cells,
    lookup_chart,
    lookup_window,
    show_measure,
)
from pages._ui.table.sources import (
    choose_source,
    formulas,
    measures,
    side_by_side,
    table_of,
    upload,
)
from pages._ui.table.takeaway import (
    comparison_shown,
    gradient_shown,
    lesson_of,
    lookup_shown,
    measure_shown,
    source_of,
    stretched_table,
    training_shown,
)
from pages._ui.table.training import (
    POLL_SECONDS,
    Progress,
    buttons,
    choose_spec,
    choose_task,
    follow,
    goal_of,
    progress_bar,
)
from pages._ui.table.words import (
    BEYOND,
    DEFINITIONS,
    DISTANCE,
    beyond_said,
    compared,
    described,
    gradient_said,
    training_alt,
    training_said,
)
from pages._ui.takeaway import OnScreen, remember, remembered, show, tools
from posembed_core import AdditiveEncoding, CheckpointError, EncodingError, TrainingSpec
from posembed_core.base import MAX_LENGTH
from posembed_core.parameters import Choice, Flag, Integer
from posembed_core.tables.position_table import PositionTable

PAGE = "table"
VIEWS = {
    "training": "Training",
    "lookup": "Lookup",
    "gradient": "One step",
    "compare": "Beside a real one",
    "measures": "Measures",
}
BEYOND_WAY = Choice("Beyond the end", options=tuple(BEYOND))
MEASURE = Choice("Measure", options=tuple(DEFINITIONS))
IN_SPREADS = Flag("In units of each table's spread", help="Divided by the standard deviation")
NEGATIVE = 8  # how far below 0 a position can be asked for


def main() -> None:
    """Ask, follow the run, then show one view of it."""
    link = Link(PAGE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown("### $p_i = P_{i,:}$", width=130)
        view = choose_view(link, VIEWS)
        task = choose_task(link)
        with st.popover("Settings"):
            spec = choose_spec(link, task)
        with st.popover("Your file"):
            own = upload()
    goal = goal_of(link, spec)
    progress = follow(spec, goal)
    if view == "training":
        training(link, progress, goal)
    elif view == "compare":
        compare(link, progress, goal, own)
    elif view == "gradient":
        gradient(link, spec)
    elif view == "lookup":
        lookup(link, progress, own)
    else:
        measured(link, progress, own)
    about([*of_family(AdditiveEncoding), PositionTable.slug])


def training(link: Link, progress: Progress, goal: int) -> None:
    """The table while it learns, or all its snapshots when it rests."""
    with st.container(horizontal=True):
        buttons(progress)
        tools(PAGE, lambda: training_shown(follow(progress.spec, goal)))
    finish(link)

    def pictures() -> None:
        now = follow(progress.spec, goal)
        progress_bar(now)
        show_training(now, training_alt(now))
        st.markdown(training_said(now))
        rest(progress, now)

    live_while(progress, pictures)


def compare(link: Link, progress: Progress, goal: int, own: PositionTable | None) -> None:
    """Random, trained here, a real model's: the same scale, the same measures."""

    def shown() -> OnScreen:
        now = follow(progress.spec, goal)
        return comparison_shown(now, side_by_side(now, own), in_spreads)

    with st.container(horizontal=True, vertical_alignment="center"):
        buttons(progress)
        in_spreads = setting(link, "spreads", IN_SPREADS, True)
        tools(PAGE, shown)
    finish(link)

    def pictures() -> None:
        now = follow(progress.spec, goal)
        progress_bar(now)
        tables = side_by_side(now, own)
        measured = [measures(table) for table in tables]
        alt = f"{len(tables)} position tables side by side."
        show(comparison_chart(tables, in_spreads), "table.comparison", alt)
        st.markdown(compared(tables, measured))
        st.markdown(f":small[{DISTANCE}]")
        rest(progress, now)

    live_while(progress, pictures)
    if cached.model_problem():
        st.info(cached.model_problem())


def gradient(link: Link, spec: TrainingSpec) -> None:
    """One step on one short sequence: only the rows that were looked up move."""
    finish(link, "start", "tokens")
    row = st.container(horizontal=True, horizontal_alignment="right")

    @st.fragment
    def pictures() -> None:
        left, right = st.columns(2)
        rows = spec.max_seq_len
        with left:
            tokens = Integer("Tokens in the sequence", low=2, high=rows)
            length = slider(link, "tokens", tokens, min(20, rows), step=1)
        with right:
            starts = Integer("First position", low=0, high=rows - 2)
            start = min(slider(link, "start", starts, 5, step=1), rows - length)
        lesson = lesson_of(spec, start, length)
        said = gradient_said(lesson, length)
        show(gradient_chart(lesson), "table.gradient", said.replace("**", ""))
        st.markdown(said)
        remember(PAGE, start=start, length=length)
        write(link, "start", "tokens")

    pictures()
    with row:
        tools(PAGE, lambda: gradient_shown(spec, **remembered(PAGE)))


def lookup(link: Link, progress: Progress, own: PositionTable | None) -> None:
    """One row of a table; beyond its end the error of a real model, or one of the ways out."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        source = choose_source(link, own)
        way = setting(
            link, "beyond", BEYOND_WAY, "error", format_func=BEYOND.__getitem__, width=230
        )
        known, slug = formulas(), ""
        menu = Choice("Formula", options=tuple(known))
        if way == "formula":
            slug = setting(
                link, "formula", menu, menu.options[0], format_func=known.__getitem__, width=230
            )
    finish(link, "position")
    table = table_or_why(link, source, progress, own)
    if table is None:
        return
    rows = table.max_seq_len
    # Twice as long; stretched so, every second row is an old one.
    length = min(2 * rows - (way == "interpolated"), MAX_LENGTH)

    @st.fragment
    def pictures() -> None:
        positions = Integer("Position i", low=-NEGATIVE, high=max(length, rows + 1) - 1)
        position = slider(link, "position", positions, 5 if rows > 5 else 0, step=1)
        shown, added = stretched_table(table, way, slug, length)
        there = True
        try:
            shown.table([position])
        except EncodingError as error:
            there = False
            st.error(f"{str(error)[0].upper()}{str(error)[1:]}.")
        alt = f"Position table of {table.source}, row {position} marked."
        window = lookup_window(shown.max_seq_len, shown.embed_dim)
        show(lookup_chart(shown, position, added, there, window), LOOKUP, alt)
        said = (described(table), beyond_said(way, rows, length), lookup_cells(shown, window))
        st.markdown(" ".join(said))
        remember(PAGE, position=position)
        write(link, "position")

    pictures()
    where = source_of(source, progress, table)
    with row:
        tools(PAGE, lambda: lookup_shown(table, where, way, slug, length, **remembered(PAGE)))


def measured(link: Link, progress: Progress, own: PositionTable | None) -> None:
    """One measure of a table, with its definition, and the numbers of all."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        source = choose_source(link, own)
        which = setting(
            link, "measure", MEASURE, "similarity", format_func=str.capitalize, width=230
        )
    finish(link)
    table = table_or_why(link, source, progress, own)
    if table is None:
        return
    square = math.isqrt(table.max_seq_len) ** 2 == table.max_seq_len
    if which == "patches" and not square:
        st.info(f"{table.max_seq_len} positions are no square of patches: choose a vision table.")
    else:
        show_measure(table, which, f"{which.capitalize()} of {table.source}.")
    st.markdown(f"{described(table)} {DEFINITIONS[which]}")
    st.markdown(compared([table], [measures(table)]))
    st.markdown(f":small[{DISTANCE}]")
    where = source_of(source, progress, table)
    if which != "patches" or square:
        with row:
            tools(PAGE, lambda: measure_shown(table, where, which))


def table_or_why(
    link: Link, source: str, progress: Progress, own: PositionTable | None
) -> PositionTable | None:
    """The chosen table; None, with the reason on the page, where there is none."""
    try:
        return table_of(source, progress, own)
    except (CheckpointError, EncodingError) as error:
        st.info(f"{str(error)[0].upper()}{str(error)[1:]}.")
        link.write()
        return None


def finish(link: Link, *later: str) -> None:
    """Say what was wrong with the link, once all that reads it has done so."""
    link.note_unknown(*later)
    link.show_notices()
    if not later:
        link.write()


def write(link: Link, *sliders: str) -> None:
    """Put the settings into the URL unless a slider is held."""
    link.show_notices()
    if not any(live.is_dragging(f"{PAGE}.{name}") for name in sliders):
        link.write()


def live_while(progress: Progress, pictures: Callable[[], None]) -> None:
    """Run the pictures again and again while the training goes on."""
    st.fragment(pictures, run_every=POLL_SECONDS if progress.goes_on else None)()


def rest(before: Progress, now: Progress) -> None:
    """Let the whole page know when the training has come to where it was wanted."""
    if before.goes_on and not now.goes_on:
        st.rerun()


main()
