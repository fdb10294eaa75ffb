"""Several pictures in one figure: side by side on a wide page, above one another on a phone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from pages._ui.figures.axes import (
    Indices,
    axis_number,
    ends_of_bar,
    heading,
    index_ticks,
    line_mode,
    on_cells,
    with_patch,
)
from pages._ui.theme import DIVERGING, SEQUENTIAL, base_layout

_GAP = 0.075  # between two pictures, for the axis of the right one, in widths of the figure
_BAR = 0.065  # for a colour bar
_NARROW_BAR = 0.13
_HEADING, _AXIS = 34, 46  # pixels above a picture and below it
_LEAST = 0.4  # of its height a picture keeps in a low window


@dataclass(frozen=True)
class Pane:
    """One picture: its heading, axis titles, ranges, and which colour axis has its bar beside it.

    ``across`` and ``up`` are more attributes of the two axes. A ``solid`` one holds a 3-D scene.
    """

    title: str
    x: str = ""
    y: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    bar: str | None = None
    across: Mapping[str, Any] = field(default_factory=dict)
    up: Mapping[str, Any] = field(default_factory=dict)
    solid: bool = False


@dataclass(frozen=True)
class Sheet:
    """Rows of pictures with their heights in pixels; the panes are numbered from 1 on, row by row.

    ``narrow`` is the greatest height of a picture on a phone.
    """

    rows: Sequence[Sequence[Pane]]
    heights: Sequence[int]
    narrow: int = 260

    def figure(
        self, colours: Mapping[str, float] | None = None, unsigned: Collection[str] = ()
    ) -> go.Figure:
        """The figure without traces; ``colours`` gives each colour axis its greatest value.

        Those of ``unsigned`` colour axes begin at 0: nothing there is ever below.
        """
        total = sum(self.heights[: len(self.rows)]) + len(self.rows) * (_HEADING + _AXIS)
        places = self._wide(total)
        pictures = sum(self.heights[: len(self.rows)])
        least = total - round(pictures * (1 - _LEAST))
        figure = go.Figure(layout=base_layout(height=total, least=least, margin=_MARGIN))
        figure.update_layout(self._layout(places))
        bars = {pane.bar for row in self.rows for pane in row}
        for name, peak in (colours or {}).items():
            is_unsigned = name in unsigned
            scale: dict[str, Any] = {"colorscale": SEQUENTIAL if is_unsigned else DIVERGING}
            hidden = {} if name in bars else {"showscale": False}
            figure.update_layout({name: scale | hidden})
            with_patch(figure, ends_of_bar(name, 0.0 if is_unsigned else -peak, peak))
        return figure

    def narrow_layout(self) -> dict[str, Any]:
        """What replaces the layout on a phone."""
        each = [
            (pane, min(self.narrow, height))
            for row, height in zip(self.rows, self.heights, strict=False)
            for pane in row
        ]
        total = sum(height + _HEADING + _AXIS for _, height in each)
        places = []
        top = 1.0
        for pane, height in each:
            top -= _HEADING / total
            right = 1 - _NARROW_BAR if pane.bar else 1.0
            places.append((pane, (0.0, right), (top - height / total, top)))
            top -= (height + _AXIS) / total
        layout = self._layout(places)
        return {"height": total, "margin": _MARGIN | {"l": 56, "r": 4}, **layout}

    def _wide(self, total: int) -> list[_Place]:
        places = []
        top = 1.0
        # Where one row ends with a colour bar, all end there, so that axes line up.
        last = any(row[-1].bar for row in self.rows)
        for row, height in zip(self.rows, self.heights, strict=False):
            top -= _HEADING / total
            bars = [_BAR if pane.bar else 0 for pane in row[:-1]] + [_BAR if last else 0]
            width = (1 - _GAP * (len(row) - 1) - sum(bars)) / len(row)
            left = 0.0
            for pane, bar in zip(row, bars, strict=True):
                places.append((pane, (left, left + width), (top - height / total, top)))
                left += width + bar + _GAP
            top -= (height + _AXIS) / total
        return places

    def _layout(self, places: list[_Place]) -> dict[str, Any]:
        layout: dict[str, Any] = {"annotations": []}
        for index, (pane, across, up) in enumerate(places, start=1):
            layout["annotations"].append(heading(pane.title, across, up[1]))
            if pane.solid:
                domain = {"x": list(across), "y": [max(up[0] - 0.05, 0.0), up[1]]}
                layout["scene"] = {"domain": domain, **pane.across}
                continue
            number = axis_number(index)
            layout[f"xaxis{number}"] = _axis(
                pane.x, pane.x_range, across, f"y{number}", pane.across
            )
            layout[f"yaxis{number}"] = _axis(pane.y, pane.y_range, up, f"x{number}", pane.up)
            if pane.bar:
                layout[pane.bar] = {"colorbar": _bar(across[1], up)}
        return layout


_Place = tuple[Pane, tuple[float, float], tuple[float, float]]
# Headings and axis titles have their room in the domains.
_MARGIN = {"l": 60, "r": 6, "t": 0, "b": 0}


def heatmap(
    name: str,
    pane: int,
    across: Indices,
    up: Indices,
    hover: str,
    colours: str = "coloraxis",
    z: Any = None,
) -> go.Heatmap:
    """Cells that stand for ``across`` × ``up`` indices, in the pane with that number.

    ``hover`` describes a cell by ``%{x}``, ``%{y}`` and ``%{z}``.
    """
    number = axis_number(pane)
    return go.Heatmap(
        name=name,
        z=z,
        **on_cells(across, up),
        xaxis=f"x{number}",
        yaxis=f"y{number}",
        coloraxis=colours,
        hovertemplate=f"{hover}<extra></extra>",
    )


def line(
    name: str, pane: int, x: Sequence[float], y: Sequence[float | None], hover: str, colour: str
) -> go.Scatter:
    """A line in the pane with that number; None is a gap."""
    number = axis_number(pane)
    return go.Scatter(
        name=name,
        x=list(x),
        y=list(y),
        xaxis=f"x{number}",
        yaxis=f"y{number}",
        mode=line_mode(len(x)),
        line={"color": colour, "width": 2.5},
        hovertemplate=f"{hover}<extra></extra>",
    )


def _axis(
    title: str,
    ends: tuple[float, float] | None,
    domain: tuple[float, float],
    anchor: str,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "domain": [max(0.0, domain[0]), min(1.0, domain[1])],
        "anchor": anchor,
        "title": {"text": title, "standoff": 4},
        "nticks": 6,
        "zeroline": False,
    }
    if ends is not None:
        axis["range"] = list(ends)
        if ends[0] % 1 == ends[1] % 1 == 0.5:  # those of indices, see `whole`
            axis |= index_ticks(abs(ends[1] - ends[0]), 6)
    return axis | dict(more)


def _bar(left: float, up: tuple[float, float]) -> dict[str, Any]:
    return {
        "thickness": 10, "x": left, "xpad": 4, "tickfont": {"size": 12},
        "y": up[1], "yanchor": "top", "ypad": 0, "len": up[1] - up[0],
    }  # fmt: skip
