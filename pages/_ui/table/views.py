"""The views of the table page: what each asks, draws and says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import streamlit as st

from pages._ui.bars import settings_bar, slider_bar
from pages._ui.controls import Link, slider
from pages._ui.escaped import unmarked
from pages._ui.sentences import sentence
from pages._ui.server.installed_model import model_problem
from pages._ui.table.film import show_training
from pages._ui.table.pictures import (
    LOOKUP,
    comparison_chart,
    comparison_ends,
    gradient_chart,
    lookup_cells,
    lookup_chart,
    lookup_ends,
    lookup_window,
    show_measure,
    waves_ends,
)
from pages._ui.table.settings import (
    PAGE,
    Chosen,
    choose_beyond,
    choose_full,
    choose_measure,
    choose_spreads,
    finish,
    positions_to_ask,
    write,
)
from pages._ui.table.sources import (
    MODEL,
    choose_source,
    fixed_step_on,
    idle_settings,
    measures,
    not_trained,
    side_by_side,
    step_on,
    stretched,
    stretched_length,
    table_of,
)
from pages._ui.table.takeaway import (
    comparison_shown,
    gradient_shown,
    lookup_shown,
    measure_shown,
    source_of,
    training_shown,
)
from pages._ui.table.training import POLL_SECONDS, Progress, buttons, follow, progress_bar
from pages._ui.table.words import (
    DEFINITIONS,
    DISTANCE,
    beyond_said,
    compared,
    comparison_alt,
    described,
    fixed_said,
    gradient_said,
    lookup_alt,
    measure_alt,
    training_alt,
    training_said,
)
from pages._ui.takeaway import OnScreen, remember, remembered, show, tools
from posembed_core import CheckpointError, EncodingError, PositionTable
from posembed_core.parameters import Integer


class TableView(NamedTuple):
    """What a view's button says, and what draws it.

    ``idle`` says which settings of the page change nothing in it.
    """

    title: str
    draw: Callable[[Link, Chosen], None]
    idle: Callable[[Link], tuple[str, ...]] = lambda link: ()  # noqa: ARG005


def training(link: Link, chosen: Chosen) -> None:
    """The table while it learns, or all its snapshots when it rests."""
    with st.container(horizontal=True):
        buttons(chosen.progress)
        tools(PAGE, lambda: training_shown(follow(chosen.spec, chosen.goal)))
    finish(link)

    def pictures(now: Progress) -> None:
        show_training(now, training_alt(now))
        st.markdown(training_said(now))

    _follow_live(chosen, pictures)


def compare(link: Link, chosen: Chosen) -> None:
    """Random, trained here, a real model's: the same scale, the same measures."""

    def shown() -> OnScreen:
        now = follow(chosen.spec, chosen.goal)
        return comparison_shown(now, side_by_side(now, chosen.own), in_spreads, full)

    tables = side_by_side(chosen.progress, chosen.own)
    with st.container(horizontal=True, vertical_alignment="center"):
        buttons(chosen.progress)
        in_spreads = choose_spreads(link)
        full = choose_full(link, partial(comparison_ends, tables, in_spreads))
        tools(PAGE, shown)
    finish(link)

    def pictures(now: Progress) -> None:
        tables = side_by_side(now, chosen.own)
        measured = [measures(table) for table in tables]
        chart = comparison_chart(tables, in_spreads, full)
        show(chart, "table.comparison", comparison_alt(tables))
        st.markdown(comparison_ends(tables, in_spreads, full).sentence)
        st.markdown(compared(tables, measured))
        st.markdown(f":small[{DISTANCE}]")

    _follow_live(chosen, pictures)
    if model_problem():
        st.info(model_problem())


def gradient(link: Link, chosen: Chosen) -> None:
    """One step on one short sequence: only the rows that were looked up move."""
    spec = chosen.spec
    finish(link, "start", "tokens")
    row = st.container(horizontal=True, horizontal_alignment="right")

    @st.fragment
    def pictures() -> None:
        rows = spec.max_seq_len
        with slider_bar():
            tokens = Integer("Tokens in the sequence", low=2, high=rows)
            length = slider(link, "tokens", tokens, min(20, rows), step=1)
            starts = Integer("First position", low=0, high=rows - 2)
            start = min(slider(link, "start", starts, 5, step=1), rows - length)
        step = step_on(spec, start, length)
        sentences = gradient_said(step, length)
        show(gradient_chart(step), "table.gradient", unmarked(sentences))
        st.markdown(sentences)
        title, fixed = fixed_step_on(spec, start, length)
        st.markdown(fixed_said(step, fixed, title))
        remember(PAGE, start=start, length=length)
        write(link, "start", "tokens")

    pictures()
    with row:
        tools(PAGE, lambda: gradient_shown(spec, **remembered(PAGE)))


def lookup(link: Link, chosen: Chosen) -> None:
    """One row of a table; beyond its end the error of a real model, or one of the ways out."""
    row = settings_bar("second")
    with row:
        source = choose_source(link, chosen.own, chosen.progress)
        way, slug = choose_beyond(link)
    table = _table_or_why(link, source, chosen, "position", "full")
    if table is None:
        return
    rows = table.max_seq_len
    length = stretched_length(rows, way)
    shown, added = stretched(table, way, slug, length)
    window = lookup_window(shown.max_seq_len, shown.embed_dim)
    with row:
        full = choose_full(link, partial(lookup_ends, shown, window))
    finish(link, "position")

    what = described(table) + not_trained(source, chosen.progress)

    @st.fragment
    def pictures() -> None:
        with slider_bar():
            position = slider(link, "position", *positions_to_ask(rows, length), step=1)
        has_row = _has_row_or_why(shown, position)
        chart = lookup_chart(shown, position, added, has_row, window, full)
        show(chart, LOOKUP, lookup_alt(table, position))
        seen = lookup_cells(shown, window, full)
        st.markdown(" ".join((what, beyond_said(way, rows, length), seen)))
        remember(PAGE, position=position)
        write(link, "position")

    pictures()
    origin = source_of(source, chosen.progress, table)
    with row:
        tools(
            PAGE,
            lambda: lookup_shown(table, origin, way, slug, length, full=full, **remembered(PAGE)),
        )


def measure(link: Link, chosen: Chosen) -> None:
    """One measure of a table, with its definition, and the numbers of all."""
    row = settings_bar("second")
    with row:
        source = choose_source(link, chosen.own, chosen.progress)
    table = _table_or_why(link, source, chosen, "measure", "full")
    if table is None:
        return
    with row:
        which = choose_measure(link, table)
        full = which == "waves" and choose_full(link, partial(waves_ends, table))
    finish(link)
    show_measure(table, which, measure_alt(table, which), full)
    what = described(table) + not_trained(source, chosen.progress)
    ends = f" {waves_ends(table, full).sentence}" if which == "waves" else ""
    st.markdown(f"{what} {DEFINITIONS[which]}{ends}")
    st.markdown(compared([table], [measures(table)]))
    st.markdown(f":small[{DISTANCE}]")
    origin = source_of(source, chosen.progress, table)
    with row:
        tools(PAGE, lambda: measure_shown(table, origin, which, full))


VIEWS = {
    "training": TableView("Training", training),
    "lookup": TableView("Lookup", lookup, idle_settings),
    "gradient": TableView("One step", gradient, lambda _: ("steps", "seq_len", "batch_size")),
    "compare": TableView("Beside a real one", compare),
    "measures": TableView("Measures", measure, idle_settings),
}


def _follow_live(chosen: Chosen, pictures: Callable[[Progress], None]) -> None:
    """Draw the run as far as it is, again and again while it goes on."""
    before = chosen.progress

    def draw() -> None:
        now = follow(chosen.spec, chosen.goal)
        progress_bar(now)
        pictures(now)
        if before.goes_on and not now.goes_on:
            st.rerun()  # the whole page, whose buttons are others now

    st.fragment(draw, run_every=POLL_SECONDS if before.goes_on else None)()


def _table_or_why(link: Link, source: str, chosen: Chosen, *later: str) -> PositionTable | None:
    """The chosen table; None, with the reason on the page, where there is none.

    ``later`` are the settings that are asked for once there is a table.
    """
    problem = model_problem() if source == MODEL else ""
    if not problem:
        try:
            return table_of(source, chosen.progress, chosen.own)
        except (CheckpointError, EncodingError) as error:
            problem = sentence(error)
    st.info(problem)
    link.carry(*later)
    finish(link, *later)
    link.write()
    return None


def _has_row_or_why(table: PositionTable, position: int) -> bool:
    """Whether the table has a row for a position; if not, the page says why."""
    try:
        table.table([position])
    except EncodingError as error:
        st.error(sentence(error))
        return False
    return True
