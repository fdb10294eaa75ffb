"""Encodings as small multiples: a picture each, in groups, with a bar and a way on of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from pages._ui.figures.axes import TwoLayouts, axis_number, line_mode, whole
from pages._ui.numbers import written
from pages._ui.theme import DASHES, DIVERGING, base_layout, hue, shade

ACROSS = 4  # pictures in a row, at most
ONE_SIDED = 0.1  # of the greatest magnitude: from there on, what all cells share is taken away
_GROUP, _TITLE, _BAR, _AXIS, _LINK = 38, 28, 42, 68, 40  # pixels of what stands around a picture
_WIDE, _NARROW = 150, 210  # pixels of its height
_GAP = 0.075  # of the figure's width, between two pictures
_MARGIN = {"l": 56, "r": 26, "t": 0, "b": 0}
_SHADES = 65


@dataclass(frozen=True)
class Place:
    """Whose picture it is: its title, the group that it stands in, and where its link leads.

    ``href`` may be empty: then there is no link.
    """

    title: str
    group: str
    href: str = ""


@dataclass(frozen=True, eq=False)
class Small:
    """One picture: its cells (rows × columns), and what the axes count."""

    place: Place
    cells: Float[np.ndarray, "rows columns"]
    across: str
    up: str

    @property
    def offset(self) -> float:
        """The mean, where all cells are so far on one side of 0 that it would eat the colours."""
        low, high = float(self.cells.min()), float(self.cells.max())
        nearest = min(abs(low), abs(high))
        is_one_sided = low * high > 0 and nearest > ONE_SIDED * max(abs(low), abs(high))
        return float(self.cells.mean(dtype=np.float64)) if is_one_sided and low < high else 0.0


def pictures_figure(pictures: Sequence[Small], symbol: str) -> TwoLayouts:
    """A heatmap for each encoding, with a bar from its least to its greatest value."""
    grid = _Grid([picture.place for picture in pictures], bars=True)
    figure, narrow = grid.figure(), grid.layout(narrow=True)
    for index, picture in enumerate(pictures, start=1):
        number, offset = axis_number(index), picture.offset
        cells = picture.cells.astype(np.float64) - offset
        less = f" less its mean {written(offset, '.3g')}" if offset else ""
        for layout in (figure.layout, narrow):
            across, up = layout[f"xaxis{number}"], layout[f"yaxis{number}"]
            across["title"] = _axis_title(picture.across)
            up["title"] = _axis_title(picture.up)
            across["range"] = whole(cells.shape[1])
            up["range"] = whole(cells.shape[0], reverse=True)
            if offset:
                note = layout["annotations"][grid.title_of(index)]
                note["text"] += (
                    f" <span style='font-size:12px'>less its mean {written(offset, '.3g')}</span>"
                )
        low, high = float(cells.min()), float(cells.max())
        figure.add_trace(
            go.Heatmap(
                name=picture.place.title,
                z=cells,
                xaxis=f"x{number}",
                yaxis=f"y{number}",
                coloraxis=f"coloraxis{number}",
                hovertemplate=(
                    f"{picture.across} %{{x}}, {picture.up} %{{y}}<br>{symbol}{less} = %{{z:.3g}}"
                    f"<extra>{picture.place.title}</extra>"
                ),
            )
        )
        colours = shades(low, high)
        figure.layout[f"coloraxis{number}"].update(colours)
    return figure, narrow


def shades(low: float, high: float) -> dict[str, Any]:
    """Colours from ``low`` to ``high``, 0 as everywhere; equal distances from it look alike.

    Cells that are all alike have one colour, and their value in the middle of the bar.
    """
    if low == high:
        ends = {"tickvals": [low], "ticktext": [written(low, ".3g")]}
        return {"colorscale": DIVERGING, "cmin": low - 1, "cmax": low + 1, "colorbar": ends}
    peak = max(abs(low), abs(high))
    points = np.linspace((low / peak + 1) / 2, (high / peak + 1) / 2, _SHADES)
    colours = [shade(point) for point in points.clip(0, 1).tolist()]
    ends = {"tickvals": [low, high], "ticktext": [written(low, ".3g"), written(high, ".3g")]}
    scale = [
        [float(at), colour] for at, colour in zip(np.linspace(0, 1, _SHADES), colours, strict=True)
    ]
    return {"colorscale": scale, "cmin": low, "cmax": high, "colorbar": ends}


def norms_figure(
    places: Sequence[Place], norms: Sequence[Mapping[str, Sequence[float]]]
) -> TwoLayouts:
    """Norms per position of each encoding, all on one scale."""
    highest = max(max(curve) for lines in norms for curve in lines.values())
    grid = _Grid(places, bars=False)
    figure, narrow = grid.figure(), grid.layout(narrow=True)
    for index, (place, lines) in enumerate(zip(places, norms, strict=True), start=1):
        number = axis_number(index)
        length = len(next(iter(lines.values())))
        for layout in (figure.layout, narrow):
            layout[f"xaxis{number}"]["title"] = _axis_title("position")
            layout[f"xaxis{number}"]["range"] = whole(length)
            layout[f"yaxis{number}"]["title"] = _axis_title("norm")
            layout[f"yaxis{number}"]["range"] = (0.0, highest * 1.05)
        for term, curve in lines.items():
            figure.add_trace(
                go.Scatter(
                    name=f"{place.title} {term}",
                    y=curve,
                    xaxis=f"x{number}",
                    yaxis=f"y{number}",
                    mode=line_mode(len(curve)),
                    line={"color": hue(term), "dash": DASHES[term], "width": 2},
                    hovertemplate=f"position %{{x}}<br>%{{y:.4g}}<extra>{term}</extra>",
                )
            )
    return figure, narrow


@dataclass(frozen=True, eq=False)
class _Grid:
    """Where pictures stand: group after group, a group in one row where it fits."""

    places: Sequence[Place]
    bars: bool

    def figure(self) -> go.Figure:
        return go.Figure(layout=base_layout(**self.layout(narrow=False)))

    def title_of(self, index: int) -> int:
        """Which annotation is the title of a picture, counted from 1."""
        return self._first_notes()[index - 1]

    def layout(self, narrow: bool) -> dict[str, Any]:
        """Axes, colour axes, titles and links, on a wide page or on a phone."""
        rows = self._rows(1 if narrow else ACROSS)
        height = _NARROW if narrow else _WIDE
        above = _TITLE + self.bars * _BAR
        below = _AXIS + _LINK
        tall = [_GROUP * self._begins(row) + above + height + below for row in rows]
        total = sum(tall)
        across = max(map(len, rows))
        width = (1 - _GAP * (across - 1)) / across
        layout: dict[str, Any] = {"height": total, "margin": _MARGIN, "annotations": []}
        top = total
        for row, pixels in zip(rows, tall, strict=True):
            upper = top - _GROUP * self._begins(row) - above
            up = ((upper - height) / total, upper / total)
            for column, index in enumerate(row):
                left = column * (width + _GAP)
                layout |= self._picture(index, (left, left + width), up, height / total)
                layout["annotations"] += self._words(index, (left, left + width), up, narrow)
            top -= pixels
        return layout

    def _rows(self, across: int) -> list[list[int]]:
        rows: list[list[int]] = [[]]
        for group in self._groups():
            if rows[-1] and len(rows[-1]) + len(group) > across:
                rows.append([])
            for index in group:
                if len(rows[-1]) == across:
                    rows.append([])
                rows[-1].append(index)
        return rows

    def _groups(self) -> list[list[int]]:
        groups: dict[str, list[int]] = {}
        for index, place in enumerate(self.places):
            groups.setdefault(place.group, []).append(index)
        return list(groups.values())

    def _is_first(self, index: int) -> bool:
        return index == 0 or self.places[index - 1].group != self.places[index].group

    def _begins(self, row: Sequence[int]) -> bool:
        return any(map(self._is_first, row))

    def _first_notes(self) -> list[int]:
        first, notes = [], 0
        for index, place in enumerate(self.places):
            first.append(notes)
            notes += 1 + bool(place.href) + self._is_first(index)
        return first

    def _picture(
        self, index: int, across: tuple[float, float], up: tuple[float, float], height: float
    ) -> dict[str, Any]:
        number = axis_number(index + 1)
        common = {"zeroline": False, "nticks": 4}
        axes = {
            f"xaxis{number}": {
                "domain": list(across), "anchor": f"y{number}", **common, "tickformat": "d",
            },
            f"yaxis{number}": {
                "domain": list(up), "anchor": f"x{number}", **common,
                **({"tickformat": "d"} if self.bars else {}),
            },
        }  # fmt: skip
        if self.bars:
            axes[f"coloraxis{number}"] = {
                "colorbar": {
                    "orientation": "h", "thickness": 8, "outlinewidth": 0,
                    "len": across[1] - across[0], "x": across[0], "xanchor": "left", "xpad": 0,
                    "y": up[1], "yanchor": "bottom", "ypad": 14, "tickfont": {"size": 12},
                }
            }  # fmt: skip
        return axes

    def _words(
        self, index: int, across: tuple[float, float], up: tuple[float, float], narrow: bool
    ) -> list[dict[str, Any]]:
        place, bar, (left, right) = self.places[index], _BAR * self.bars, across
        middle = (left + right) / 2
        title = _note(f"<b>{place.title}</b>", middle, up[1], bar + 3, "bottom", 14)
        notes = [title | {"xanchor": "center"}]
        if place.href:
            words = f'<a href="{place.href}" target="_self">{place.title} in Combine</a>'
            notes.append(_note(words, left, up[0], -_AXIS, "top", 12))
        if self._is_first(index):
            y = bar + _TITLE + 4
            notes.append(_note(place.group, left, up[1], y, "bottom", 14 if narrow else 15))
        return notes


def _axis_title(text: str) -> dict[str, Any]:
    return {"text": text, "standoff": 2, "font": {"size": 13}}


def _note(text: str, x: float, y: float, yshift: float, anchor: str, size: int) -> dict[str, Any]:
    return {
        "text": text, "x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left",
        "yanchor": anchor, "yshift": yshift, "showarrow": False, "font": {"size": size},
        "borderpad": 0,
    }  # fmt: skip
