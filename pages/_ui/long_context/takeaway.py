"""A model's RoPE as a report, as code and as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from torch import Tensor

from pages._ui.figures.two_pictures import Lengths
from pages._ui.long_context.pictures import CELLS, pairs_picture, score_columns, scores_picture
from pages._ui.long_context.words import pairs_alt, scores_alt, scores_key
from pages._ui.takeaway.code import IN_PYTORCH, Script
from pages._ui.takeaway.files import Table, Text, View
from pages._ui.takeaway.popover import here
from pages._ui.takeaway.standalone import standalone_html
from pages._ui.takeaway.view import whole, written
from posembed_core import RotaryEncoding
from posembed_core.long_context.pairs import MAX_DISTANCE, PairTable, distance_edges, pair_table
from posembed_core.long_context.precision import ARITHMETICS
from posembed_core.long_context.report import pair_columns, report, stacked, summary, to_csv
from posembed_core.model_config import Finding, RopeSettings
from posembed_core.scripts.combine import frequency_script

PAGE = "long-context"


@dataclass(frozen=True)
class Taken:
    """What is on the screen: a model's RoPE, the sliders, and what the two charts show."""

    model: str
    settings: RopeSettings
    found: Sequence[Finding]
    lengths: Lengths
    position: int
    quantity: str
    arithmetic: str

    name = "posembed-rope"
    chart = MappingProxyType({part: f"{PAGE}.{part}" for part in ("pairs", "scores")})

    @property
    def encoding(self) -> RotaryEncoding:
        """The model's RoPE."""
        return self.settings.encoding

    @property
    def table(self) -> PairTable:
        """Its pairs."""
        return pair_table(self.encoding, self.lengths.wanted)

    @property
    def scripts(self) -> dict[str, Script]:
        """The frequencies in plain PyTorch."""
        return {IN_PYTORCH: self.script}

    @property
    def sources(self) -> list[Callable[..., Any]]:
        """What computes them."""
        return [pair_table, type(self.encoding)]

    def script(self) -> str:
        """The frequencies in plain PyTorch."""
        return frequency_script(self.encoding, self.lengths.wanted)

    def report(self) -> str:
        """All of it as plain text."""
        lengths = (self.lengths.trained, self.lengths.wanted)
        return report(self.model, self.settings, self.found, self.table, lengths)

    def view(self) -> View:
        """Both charts, and the tables behind them, to take away."""
        encoding, (trained, wanted) = self.encoding, (self.lengths.trained, self.lengths.wanted)
        table, link = self.table, here()
        said = summary(table, trained, wanted)
        name, title = f"posembed-{encoding.slug}-{wanted}", f"RoPE of {self.model}"
        rounding = ARITHMETICS[self.arithmetic]

        def page(part: str, figure: Callable[[], go.Figure], alt: str, caption: str) -> str:
            return standalone_html(
                figure(), title=title, alt=alt, caption=caption, link=link, name=f"{name}-{part}"
            )

        def pairs() -> go.Figure:
            return pairs_picture(encoding, trained, wanted, self.position, self.quantity)

        def scores() -> go.Figure:
            return scores_picture(encoding, trained, wanted, self.arithmetic)

        columns = pair_columns(table, trained, wanted)
        return View(
            name=name,
            title=f"Posembed: {title}",
            about=f"{said}\n\n{encoding.title}: {encoding.reference}",
            link=link,
            settings={
                "encoding": encoding.title,
                **{
                    field: parameter.format(getattr(encoding, field)) or "default"
                    for field, parameter in encoding.parameters().items()
                },
                "trained length": f"{trained}",
                "wanted length": f"{wanted}",
                "position": f"{self.position}",
                "precision": rounding.title,
            },
            tables=(
                _columns("pairs", "each pair of channels", columns),
                _columns("scores", "mean score against distance", score_columns(encoding, wanted)),
            ),
            pictures={
                "pairs": lambda: page("pairs", pairs, pairs_alt(table, said), said),
                "scores": lambda: page(
                    "scores", scores, scores_alt(rounding),
                    scores_key(distance_edges(MAX_DISTANCE, CELLS)),
                ),
            },
            scripts=written({"": self.script}),
            texts=(
                Text("report.txt", "the report", self.report),
                Text(
                    "pairs.csv", "what becomes of each pair",
                    lambda: to_csv(columns, {"kind": table.kind}),
                ),
            ),
        )  # fmt: skip


def _columns(name: str, about: str, columns: Mapping[str, Tensor]) -> Table:
    return whole(name, about, stacked(columns), row="row", columns=tuple(columns), dtype="<f8")


def report_popover(taken: Callable[[], Taken]) -> None:
    """A button that opens the report."""
    popover = st.popover("Report", on_change="rerun", key=f"{PAGE}.report", width="content")
    if popover.open:
        popover.code(taken().report(), language=None, height=420)
