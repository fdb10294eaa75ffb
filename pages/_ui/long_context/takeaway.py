"""A model's RoPE as a report, as code and as files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st
from torch import Tensor

from pages._ui.long_context.pictures import CELLS, pairs_picture, score_columns, scores_picture
from pages._ui.long_context.settings import PAGE, Chosen, Sliders
from pages._ui.long_context.words import pairs_alt, scores_alt, scores_key
from pages._ui.takeaway import IN_PYTORCH, OnScreen, Plot, Table, Text
from pages._ui.takeaway.view import whole
from posembed_core.long_context.pairs import MAX_DISTANCE, distance_edges, pair_table
from posembed_core.long_context.precision import ARITHMETICS
from posembed_core.long_context.report import (
    pair_columns,
    report,
    stacked,
    summary,
    to_csv,
    trained_is_given,
)
from posembed_core.scripts.combine import frequency_script


def rope_shown(chosen: Chosen, sliders: Sliders) -> OnScreen:
    """Both charts, the tables behind them, the frequencies in plain PyTorch, and the report."""
    encoding, position = chosen.encoding, sliders.position
    trained, wanted = sliders.lengths.trained, sliders.lengths.wanted
    rounding, table = ARITHMETICS[chosen.arithmetic], partial(pair_table, encoding, wanted)

    def pairs() -> dict[str, Tensor]:
        return pair_columns(table(), trained, wanted)

    def in_short() -> str:
        return summary(table(), trained, wanted, trained_is_given(chosen.settings))

    return OnScreen(
        name=f"posembed-{encoding.slug}-{wanted}",
        code_name="posembed-rope",
        title=f"RoPE of {chosen.model}",
        about=lambda: f"{in_short()}\n\n{encoding.title}: {encoding.reference}",
        plots={
            "pairs": Plot(
                key=f"{PAGE}.pairs",
                figure=partial(pairs_picture, encoding, trained, wanted, position, chosen.quantity),
                alt=lambda: pairs_alt(table(), in_short()),
                caption=in_short,
            ),
            "scores": Plot(
                key=f"{PAGE}.scores",
                figure=partial(scores_picture, encoding, trained, wanted, chosen.arithmetic),
                alt=lambda: scores_alt(rounding),
                caption=lambda: scores_key(distance_edges(MAX_DISTANCE, CELLS)),
            ),
        },
        captions_are_whole=True,
        settings={
            "encoding": encoding.title,
            **{
                field: parameter.format(getattr(encoding, field)) or "default"
                for field, parameter in encoding.parameters().items()
            },
            "trained length": f"{trained}",
            "wanted length": f"{wanted}",
            "position": f"{position}",
            "precision": rounding.title,
        },
        tables=lambda: [
            _columns("pairs", "each pair of dimensions", pairs()),
            _columns("scores", "mean score against distance", score_columns(encoding, wanted)),
        ],
        scripts={IN_PYTORCH: partial(frequency_script, encoding, wanted)},
        sources=[pair_table, type(encoding)],
        texts=[
            Text("report.txt", "the report", partial(report_text, chosen, sliders)),
            Text(
                "pairs.csv",
                "what becomes of each pair",
                lambda: to_csv(pairs(), {"kind": table().kind}),
            ),
        ],
    )


def report_text(chosen: Chosen, sliders: Sliders) -> str:
    """All of it as plain text."""
    lengths = (sliders.lengths.trained, sliders.lengths.wanted)
    table = pair_table(chosen.encoding, sliders.lengths.wanted)
    return report(chosen.model, chosen.settings, chosen.findings, table, lengths)


def report_popover(chosen: Chosen, sliders: Sliders) -> None:
    """A button that opens the report."""
    popover = st.popover("Report", on_change="rerun", key=f"{PAGE}.report", width="content")
    if popover.open:
        popover.code(report_text(chosen, sliders), language=None, height=420)


def _columns(name: str, about: str, columns: Mapping[str, Tensor]) -> Table:
    return whole(name, about, stacked(columns), row="row", columns=tuple(columns), dtype="<f8")
