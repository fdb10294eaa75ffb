"""The landing page's chart: the live one, the same as a figure, and the cell that was clicked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages._ui import live
from pages._ui.combine.arithmetic import cell_at, has_cell
from pages._ui.combine.lens import lens_of
from pages._ui.combine.settings import CHART, FIELDS, PAGE, Chosen
from pages._ui.combine.window import Zoom, window_of, zoom_to
from pages._ui.combine.words import alt, explain, look, lying_beyond
from pages._ui.controls import Link
from pages._ui.figures.equation import (
    NORMS,
    TERMS,
    Look,
    equation_figure,
    narrow_layout,
    ranges,
)
from pages._ui.server.kept import kept
from pages._ui.server.pictures import Shown
from pages._ui.takeaway.filled import filled
from posembed_core.pictures.preview import Preview, Reading


def zoom_of(link: Link) -> Zoom:
    """The part of the matrices that is looked at: that of a new link, else the reader's own."""
    parameter, default = FIELDS["zoom"]
    if link.changed:
        return zoom_to(link.read("zoom", parameter, default))
    return live.events.events_of(CHART).zoom


def show_chart(link: Link, chosen: Chosen, shown: Shown, reading: Reading, zoom: Zoom) -> None:
    """The three pictures and the norms, live, and below them what they are."""
    tokens = chosen.tokens[: reading.preview.shape[0]]
    figure = _packed(look(reading.preview, tokens))
    cell = _chosen_cell(link, reading.preview, tokens)
    live.plot(
        figure,
        key=CHART,
        arrays=shown.pack(reading.frame),
        mixes=reading.frame.mixes,
        lines={NORMS[term]: getattr(reading.norms, term) for term in TERMS},
        patch=_ranges(reading),
        alt=alt(reading),
        notes=explain(chosen, reading, cell),
        lens=lens_of(reading, cell, live.events.events_of(CHART, figure).pointed),
        zoom=zoom if link.changed else None,
    )
    parameter, default = FIELDS["zoom"]
    window = window_of(zoom, *reading.preview.shape)
    link.keep("zoom", parameter, window, default)


def chart(reading: Reading, tokens: Sequence[str]) -> go.Figure:
    """The same as a figure with its numbers."""
    return filled(
        equation_figure(look(reading.preview, tokens)),
        {term: reading.frame.cells(term).T.numpy() for term in TERMS},
        {NORMS[term]: getattr(reading.norms, term).numpy() for term in TERMS},
        _ranges(reading),
    )


def _chosen_cell(link: Link, preview: Preview, tokens: Sequence[str]) -> tuple[int, ...]:
    """The cell to explain: the one just clicked, or the one in the URL; () for none."""
    key, (parameter, default) = f"{PAGE}.cell", FIELDS["cell"]
    if link.changed:
        st.session_state[key] = link.read("cell", parameter, default)
    click = live.events.events_of(CHART, _packed(look(preview, tokens))).click
    if click is not None:
        st.session_state[key] = cell_at(preview, click.trace, click.x, click.y)
    cell: tuple[int, ...] = st.session_state.get(key, default)
    if not has_cell(preview, cell):
        if link.changed and cell:
            text = parameter.format(cell)
            link.note(f"The link has cell={text}, which is not a cell of this picture.")
        return ()
    link.keep("cell", parameter, cell, default)
    return cell


def _ranges(reading: Reading) -> dict[str, Any]:
    limits, (shared, own) = reading.limits, lying_beyond(reading)
    return ranges(
        limits.peak,
        limits.own_peak,
        limits.highest,
        reading.highest,
        (shared.below > 0, shared.above > 0),
        (own.below > 0, own.above > 0),
    )


@kept()
def _packed(shape: Look) -> live.PackedFigure:
    """The empty figure of a look."""
    return live.pack_figure(equation_figure(shape), narrow=narrow_layout(shape))
