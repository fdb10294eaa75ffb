"""What can be seen of any table: one figure for each of its measures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pages._ui.figures.axes import Indices, TwoLayouts, colour_peak, nice_ceiling, whole
from pages._ui.figures.panes import Pane, Sheet, heatmap, line
from pages._ui.numbers import written
from pages._ui.theme import hue

_HEIGHT = 380
# Colour-blind safe, and brighter with the position: where the curve begins is where it is dark.
_ALONG = "Cividis"
_LINE = hue("position")
_COSINE = "positions %{x} and %{y}<br>cosine = %{z:.3g}"


def norms_figure(norms: Float[np.ndarray, " n"]) -> TwoLayouts:
    """The norm of each row; a zero row is a mark on the axis."""
    length = len(norms)
    pane = Pane("norm of each row", "position", "‖p‖", whole(length), up={"rangemode": "tozero"})
    sheet = Sheet(((pane,),), (_HEIGHT,))
    figure = sheet.figure()
    hover = "position %{x}<br>‖p‖ = %{y:.4g}"
    figure.add_trace(line("norm", 1, range(length), norms.tolist(), hover, _LINE))
    zero = np.flatnonzero(norms == 0).tolist()
    if zero:
        figure.add_scatter(
            name="zero", x=zero, y=[0] * len(zero), mode="markers",
            marker={"symbol": "x", "size": 8, "color": hue("combined")},
            hovertemplate="position %{x}: a zero row<extra></extra>",
        )  # fmt: skip
    return figure, sheet.narrow_layout()


def similarity_figure(
    cosines: Float[np.ndarray, "cells cells"],
    positions: Indices,
    means: Float[np.ndarray, " n"],
    pairs: Int[np.ndarray, " n"],
) -> TwoLayouts:
    """Cosines of rows with rows, NaN where undefined, and their mean at each distance.

    ``pairs`` says over how many pairs a mean was taken; one over none is a gap.
    """
    length = len(means)
    sides = (whole(length), whole(length, reverse=True))
    left = Pane("cosine of rows with rows", "position", "position", *sides, "coloraxis")
    right = Pane("mean cosine at each distance", "distance", x_range=whole(length),
                 up={"nticks": 8, "zeroline": True})  # fmt: skip
    sheet = Sheet(((left, right),), (430,), narrow=320)
    colours = {"coloraxis": 1.0}
    figure = sheet.figure(colours)
    figure.add_trace(heatmap("similarity", 1, positions, positions, _COSINE, z=cosines))
    values = [
        mean if count else None for mean, count in zip(means.tolist(), pairs.tolist(), strict=True)
    ]
    hover = "distance %{x}<br>mean cosine = %{y:.3g}"
    figure.add_trace(line("decay", 2, range(length), values, hover, _LINE))
    return figure, sheet.narrow_layout()


def patches_figure(cosines: Float[np.ndarray, "n n"], norms: Float[np.ndarray, " n"]) -> TwoLayouts:
    """Cosines of patches with patches as tiles laid out like the patches, and each patch's norm."""
    count = len(norms)
    side = math.isqrt(count)
    left = Pane("cosine of each patch with all patches", "patch column, and column in its tile",
                "patch row, and row in its tile", whole(count), whole(count, reverse=True),
                "coloraxis")  # fmt: skip
    right = Pane("norm of each patch's row", "patch column", "patch row", whole(side),
                 whole(side, reverse=True), "coloraxis2")  # fmt: skip
    sheet = Sheet(((left, right),), (430,), narrow=320)
    colours = {"coloraxis": 1.0, "coloraxis2": nice_ceiling(float(norms.max()))}
    figure = sheet.figure(colours, unsigned={"coloraxis2"})
    tiles, patches, squares = range(count), range(side), norms.reshape(side, side)
    hover = "row %{y}, column %{x}<br>norm = %{z:.4g}"
    figure.add_trace(heatmap("patches", 1, tiles, tiles, "cosine = %{z:.3g}", z=cosines))
    figure.add_trace(heatmap("norms", 2, patches, patches, hover, "coloraxis2", z=squares))
    return figure, sheet.narrow_layout()


def singular_figure(values: Float[np.ndarray, " rank"]) -> TwoLayouts:
    """The singular values, largest first, on a logarithmic axis; zeros have no place on it."""
    pane = Pane("singular values", "number", "σ", x_range=(0.5, len(values) + 0.5),
                up={"type": "log", "exponentformat": "power"})  # fmt: skip
    sheet = Sheet(((pane,),), (_HEIGHT,))
    figure = sheet.figure()
    floor = float(values.max()) * 1e-12
    shown = [value if value > floor else None for value in values.tolist()]
    hover = "number %{x}<br>σ = %{y:.4g}"
    figure.add_trace(line("singular", 1, range(1, len(shown) + 1), shown, hover, _LINE))
    return figure, sheet.narrow_layout()


def fourier_figure(
    frequencies: Float[np.ndarray, " all_lines"],
    means: Float[np.ndarray, " all_lines"],
    amplitudes: Float[np.ndarray, "lines columns"],
    lines: Indices,
    columns: Indices,
) -> TwoLayouts:
    """The mean power of each frequency, and the amplitude of each frequency in each dimension.

    ``amplitudes`` are pooled to the cells of ``lines`` and ``columns``.
    """
    last = len(frequencies) - 1
    step = float(frequencies[1]) if last else 1.0
    ticks = [last * part / 5 for part in range(6)]
    names = {"tickvals": ticks, "ticktext": [written(tick * step, ".2g") for tick in ticks]}
    frequency = "frequency (cycles per position)"
    upper = Pane("mean power", frequency, "", whole(last + 1), across=names,
                 up={"type": "log", "exponentformat": "power", "dtick": 1})  # fmt: skip
    lower = Pane("amplitude in each dimension", frequency, "dimension", whole(last + 1),
                 whole(columns.stop, reverse=True), "coloraxis", across=names)  # fmt: skip
    sheet = Sheet(((upper,), (lower,)), (170, 300))
    colours = {"coloraxis": nice_ceiling(colour_peak(amplitudes))}
    figure = sheet.figure(colours, unsigned=colours)
    floor = float(means.max()) * 1e-12
    shown = [value if value > floor else None for value in means.tolist()]
    hover = "%{x} waves along the table<br>mean power = %{y:.3g}"
    figure.add_trace(line("power", 1, range(last + 1), shown, hover, _LINE))
    hover = "%{x} waves along the table, dimension %{y}<br>amplitude = %{z:.3g}"
    figure.add_trace(heatmap("amplitude", 2, lines, columns, hover, z=amplitudes.T))
    return figure, sheet.narrow_layout()


def components_figure(
    curves: Float[np.ndarray, "n count"], shares: Float[np.ndarray, " count"]
) -> TwoLayouts:
    """The first principal components as a curve in space, and one by one along the positions."""
    length = len(curves)
    panes = [
        Pane(f"PC {number}: {share:.0%} of the variance", "position", x_range=whole(length))
        for number, share in enumerate(shares.tolist(), start=1)
    ]
    axes = {f"{axis}axis": {"title": {"text": f"PC {number}"}, "showticklabels": False}
            for number, axis in enumerate("xyz", start=1)}  # fmt: skip
    space = Pane("the first three as a curve", solid=True, across=axes | {"aspectmode": "cube"})
    rows = [(pane,) for pane in panes]
    in_space = len(shares) == len(axes)
    sheet = Sheet((*rows, (space,)) if in_space else rows, (*[110] * len(rows), 430), narrow=320)
    figure = sheet.figure()
    for number, curve in enumerate(curves.T.tolist(), start=1):
        hover = "position %{x}<br>%{y:.4g}"
        figure.add_trace(line(f"PC {number}", number, range(length), curve, hover, _LINE))
    if in_space:
        x, y, z = curves.T.tolist()
        along: dict[str, Any] = {"color": list(range(length)), "colorscale": _ALONG}
        figure.add_scatter3d(
            name="curve", x=x, y=y, z=z, mode="lines+markers",
            line=along | {"width": 4}, marker=along | {"size": 2.5},
            hovertemplate="position %{marker.color}<extra></extra>",
        )  # fmt: skip
    return figure, sheet.narrow_layout()
