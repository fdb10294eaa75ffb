"""A figure as a separate file: real numbers, real colours, nothing from a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from pages._ui.figures.equation import NORMS, TERMS, Look, Panel, equation_figure, ranges
from pages._ui.figures.two_pictures import BEFORE
from pages._ui.takeaway.filled import filled
from pages._ui.takeaway.standalone import standalone_html
from pages._ui.theme import hue
from posembed_core.pictures.resolution import Span

CELLS = {term: np.arange(24, dtype=np.float32).reshape(4, 6) + at for at, term in enumerate(TERMS)}
CURVES = {term: np.linspace(at, at + 1, 6) for at, term in enumerate(TERMS)}


def figure() -> go.Figure:
    panels = tuple(Panel(term, term, Span(0, 4), 4) for term in TERMS)
    look = Look(panels, Span(0, 6), 6, ("+", "="))  # type: ignore[arg-type]
    curves = {NORMS[term]: values for term, values in CURVES.items()}
    return filled(equation_figure(look), CELLS, curves, ranges(3.0, 2.0, 9.0, 9.0))


def page(drawn: go.Figure, **texts: str) -> str:
    known = {"title": "A", "alt": "B", "caption": "C", "link": "http://localhost/", "name": "d"}
    return standalone_html(drawn, **(known | texts))


def test_the_figure_holds_all_its_numbers() -> None:
    drawn = figure()
    heatmaps = [trace for trace in drawn.data if isinstance(trace, go.Heatmap)]
    assert [trace.name for trace in heatmaps] == list(TERMS)
    for trace in heatmaps:
        assert np.array_equal(trace.z, CELLS[trace.name])
        assert trace.z.dtype == np.float32
    lines = [trace for trace in drawn.data if isinstance(trace, go.Scatter)]
    for trace, term in zip(lines, TERMS, strict=True):
        assert np.array_equal(trace.y, CURVES[term])
    assert drawn.layout.coloraxis.cmax == 3.0
    assert drawn.layout.coloraxis2.cmax == 2.0


@pytest.mark.parametrize("colour", [hue("token"), BEFORE, "var(--st-border-color)"])
def test_no_colour_is_left_to_a_theme(colour: str) -> None:
    drawn = figure()
    drawn.add_trace(go.Scatter(x=[0, 1], y=[0, 1], line={"color": colour}))
    own = page(drawn).replace(get_plotlyjs(), "")
    assert "var(--" not in own
    assert "#0072b2" in own


def test_the_file_loads_nothing() -> None:
    loaded = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            if tag in {"script", "img", "link", "iframe"} and (
                given.get("src") or given.get("href")
            ):
                loaded.append(str(given.get("src") or given.get("href")))

    Reader().feed(page(figure()).replace(get_plotlyjs(), ""))
    assert loaded == ["data:,"]


def test_texts_cannot_break_out() -> None:
    nasty = '"><script>alert(1)</script>'
    own = page(figure(), title=nasty, alt=nasty, caption=nasty, link=nasty, name=nasty)
    assert not re.search(r"<script>alert", own.replace(get_plotlyjs(), ""))
