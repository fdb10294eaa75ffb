"""A model's RoPE as a report, as code and as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from torch import Tensor

from pages._ui.long_context.pictures import CELLS, pairs_picture, score_columns, scores_picture
from pages._ui.long_context.reading import Group, Reading
from pages._ui.long_context.settings import PAGE, Chosen, Sliders
from pages._ui.long_context.words import pairs_alt, scores_alt, scores_key
from pages._ui.takeaway import IN_PYTORCH, OnScreen, Plot, Table, Text, remembered, tools
from pages._ui.takeaway.code import code_popover
from pages._ui.takeaway.view import whole
from posembed_core import positions_from_config
from posembed_core.long_context.pairs import MAX_DISTANCE, distance_edges, pair_table
from posembed_core.long_context.precision import ARITHMETICS
from posembed_core.long_context.report import (
    pair_columns,
    report,
    stacked,
    summary,
    to_csv,
)
from posembed_core.model_config.has import what_it_has
from posembed_core.model_config.layer_kinds import layer_kinds
from posembed_core.model_config.report import layer_lines, model_report, report_text
from posembed_core.scripts.combine import frequency_script


def rope_shown(chosen: Chosen, sliders: Sliders) -> OnScreen:
    """Both charts, the tables behind them, the frequencies in plain PyTorch, and the report."""
    encoding, position, lengths = chosen.encoding, sliders.position, sliders.lengths
    trained, wanted = lengths.trained, lengths.wanted
    rounding, table = ARITHMETICS[chosen.arithmetic], partial(pair_table, encoding, wanted)

    def pairs() -> dict[str, Tensor]:
        return pair_columns(table(), trained, wanted)

    def in_short() -> str:
        return summary(table(), trained, wanted, lengths.is_given)

    return OnScreen(
        name=f"posembed-{encoding.slug}-{wanted}",
        code_name="posembed-rope",
        title=f"RoPE of {chosen.model}",
        about=lambda: f"{in_short()}\n\n{encoding.title}: {encoding.reference}",
        plots={
            "pairs": Plot(
                key=f"{PAGE}.pairs",
                figure=partial(pairs_picture, encoding, lengths, position, chosen.quantity),
                alt=lambda: pairs_alt(table(), in_short()),
                caption=in_short,
            ),
            "scores": Plot(
                key=f"{PAGE}.scores",
                figure=partial(scores_picture, encoding, lengths, chosen.arithmetic),
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
            "trained length": f"{trained}{'' if lengths.is_given else ', assumed'}",
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
            Text("report.txt", "the report", partial(rope_text, chosen, sliders)),
            Text(
                "pairs.csv",
                "what becomes of each pair",
                lambda: to_csv(pairs(), {"kind": table().kind}),
            ),
        ],
    )


def rope_text(chosen: Chosen, sliders: Sliders) -> str:
    """All of it as plain text."""
    lengths = (sliders.lengths.trained, sliders.lengths.wanted)
    table = pair_table(chosen.encoding, sliders.lengths.wanted)
    reading = chosen.reading
    layers = layer_lines(model_report(reading.model)) if reading.model else ()
    return report(chosen.model, chosen.settings, reading.findings, table, lengths, layers)


def rope_tools(chosen: Chosen) -> None:
    """The report, the code and the files of layers that rotate, at the sliders' present values."""

    def sliders() -> Sliders:
        values: Sliders = remembered(PAGE)["sliders"]
        return values

    tools(
        PAGE,
        lambda: rope_shown(chosen, sliders()),
        others=lambda: report_popover(lambda: rope_text(chosen, sliders())),
    )


def report_popover(text: Callable[[], str], wrap_lines: bool = False) -> None:
    """A button that opens the report."""
    popover = st.popover("Report", on_change="rerun", key=f"{PAGE}.report", width="content")
    if popover.open:
        popover.code(text(), language=None, height=420, wrap_lines=wrap_lines)


@st.fragment
def tools_without_rotation(reading: Reading, group: Group) -> None:
    """The report and the code of layers that don't rotate: nothing is computed but what it says."""
    encoding = group.example.encoding
    sources: list[Callable[..., Any]] = [positions_from_config, what_it_has, layer_kinds]
    if encoding is not None:
        sources.append(type(encoding))
    with st.container(horizontal=True, width="content"):
        report_popover(lambda: model_text(reading), wrap_lines=True)
        code_popover({}, sources, name="posembed-layers", key=f"{PAGE}.code.layers")


def model_text(reading: Reading) -> str:
    """What the whole model does, and its findings."""
    return report_text(reading.model, reading.model.findings if reading.model else ())


def _columns(name: str, about: str, columns: Mapping[str, Tensor]) -> Table:
    return whole(name, about, stacked(columns), row="row", columns=tuple(columns), dtype="<f8")
