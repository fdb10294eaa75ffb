"""A position table as pictures: while it is trained, looked up, stretched, and beside others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pages._ui.figures.axes import Indices, TwoLayouts, ends_of_bar, index_ticks, whole
from pages._ui.figures.panes import Pane, Sheet, heatmap, line
from pages._ui.theme import hue

_VALUE = "position %{x}, dimension %{y}<br>P = %{z:.3g}"
_PAIRS = ("position", "position")
_COSINE = "positions %{x} and %{y}<br>cosine = %{z:.3g}"


def training_figure(
    steps: Sequence[int], length: int, width: int, rows: Indices, columns: Indices
) -> TwoLayouts:
    """The table, its rows' similarity and the head's attention; below them, loss and similarity.

    ``steps`` are those of all snapshots that there will be; the numbers travel by themselves.
    """
    last = (0, steps[-1])
    counted = index_ticks(steps[-1], 6)
    attended = "position attended to"
    sheet = Sheet(
        (
            (
                _matrix("the table P", ("position", "dimension"), (length, width), "coloraxis"),
                _matrix("similarity of rows (cosine)", _PAIRS, (length, length), "coloraxis2"),
                _matrix("attention by position alone", (attended, "position"), (length, length),
                        "coloraxis3"),
            ),
            (
                Pane("loss (nats)", "step", x_range=last, across=counted,
                     up={"rangemode": "tozero"}),
                Pane("mean cosine of adjacent rows", "step", x_range=last, y_range=(-0.25, 1.05),
                     across=counted),
            ),
        ),
        (300, 130),
    )  # fmt: skip
    colours = {"coloraxis": 1.0, "coloraxis2": 1.0, "coloraxis3": 1.0}
    figure = sheet.figure(colours, unsigned={"coloraxis3"})
    attended = "position %{y} attends to %{x}<br>weight = %{z:.3g}"
    figure.add_traces(
        [
            heatmap("table", 1, rows, columns, _VALUE),
            heatmap("similarity", 2, rows, rows, _COSINE, "coloraxis2"),
            heatmap("attention", 3, rows, rows, attended, "coloraxis3"),
            line("loss", 4, steps, [0.0] * len(steps), "step %{x}: loss %{y:.4g}", hue("combined")),
            line("adjacent", 5, steps, [0.0] * len(steps), "step %{x}: cosine %{y:.3g}",
                 hue("position")),
        ]
    )  # fmt: skip
    return figure, sheet.narrow_layout()


@dataclass(frozen=True)
class LookupLook:
    """What the lookup's figure depends on: the window shown of a table of these sizes.

    ``extended`` says whether the table has rows that were added, which a strip then shows.
    """

    rows: Indices
    columns: Indices
    length: int
    width: int
    extended: bool = False


def lookup_figure(look: LookupLook) -> TwoLayouts:
    """The table with a marker at one position, the row itself, and which rows were added."""
    table = _matrix(
        "the table P", ("position i", "dimension"), (look.length, look.width), "coloraxis"
    )
    row = Pane("the row that is looked up", "dimension", "value", whole(look.width))
    bare = {"showticklabels": False, "ticks": ""}
    strip = Pane("rows that were added (red)", "", "", whole(look.length), whole(1), up=bare,
                 across=bare | {"matches": "x"})  # fmt: skip
    sheet = Sheet(((table,), (row,), (strip,))[: 3 if look.extended else 2], (300, 130, 16))
    colours = {"coloraxis": 1.0, "coloraxis2": 1.0}
    figure = sheet.figure(colours, unsigned={"coloraxis2"})
    figure.add_trace(heatmap("table", 1, look.rows, look.columns, _VALUE))
    figure.add_trace(
        line("row", 2, range(look.width), [0.0] * look.width, "dimension %{x}<br>P = %{y:.4g}",
             hue("position"))
    )  # fmt: skip
    if look.extended:
        hover = "position %{x}: %{z:.0%} added"
        figure.add_trace(heatmap("added", 3, look.rows, range(1), hover, "coloraxis2"))
    figure.update_layout(shapes=[_marker()])
    return figure, sheet.narrow_layout()


def marked(position: int) -> dict[str, Any]:
    """What moves the marker of `lookup_figure` to a position."""
    return {"shapes[0].x0": position - 0.5, "shapes[0].x1": position + 0.5}


def gradient_figure(length: int, width: int, rows: Indices, columns: Indices) -> TwoLayouts:
    """The gradient of the loss, what the step changed, and the gradient's norm in each row."""
    sizes = (length, width)
    names = ("position", "dimension")
    sheet = Sheet(
        (
            (
                _matrix("gradient of the loss, P.grad", names, sizes, "coloraxis"),
                _matrix("what the step changed", names, sizes, "coloraxis2"),
            ),
            (Pane("norm of each row's gradient", "position", "", whole(length)),),
        ),
        (300, 130),
    )  # fmt: skip
    colours = {"coloraxis": 1.0, "coloraxis2": 1.0}
    figure = sheet.figure(colours)
    cell = "position %{x}, dimension %{y}<br>"
    figure.add_traces(
        [
            heatmap("gradient", 1, rows, columns, f"{cell}gradient = %{{z:.3g}}"),
            heatmap("change", 2, rows, columns, f"{cell}change = %{{z:.3g}}", "coloraxis2"),
            line("norm", 3, range(length), [0.0] * length, "position %{x}<br>norm = %{y:.3g}",
                 hue("position")),
        ]
    )  # fmt: skip
    return figure, sheet.narrow_layout()


@dataclass(frozen=True)
class Beside:
    """One of the tables that stand side by side: its name and what of it is shown."""

    name: str
    rows: Indices
    columns: Indices
    length: int
    width: int


def comparison_figure(tables: Sequence[Beside], similar: Sequence[Indices]) -> TwoLayouts:
    """Tables beside each other on one colour scale, and the similarity of their rows below.

    ``similar`` are the positions behind the cells of each similarity.
    """
    last = len(tables) - 1
    upper = [
        _matrix(table.name, ("position", "" if index else "dimension"), (table.length, table.width),
                "coloraxis" if index == last else None)
        for index, table in enumerate(tables)
    ]  # fmt: skip
    lower = [
        _matrix("similarity of rows", ("position", "" if index else "position"),
                (table.length, table.length), "coloraxis2" if index == last else None)
        for index, table in enumerate(tables)
    ]  # fmt: skip
    sheet = Sheet((upper, lower), (230, 300))
    colours = {"coloraxis": 1.0, "coloraxis2": 1.0}
    figure = sheet.figure(colours)
    for index, (table, positions) in enumerate(zip(tables, similar, strict=True), start=1):
        figure.add_trace(heatmap(f"table {index}", index, table.rows, table.columns, _VALUE))
        figure.add_trace(
            heatmap(f"similarity {index}", len(tables) + index, positions, positions, _COSINE,
                    "coloraxis2")
        )  # fmt: skip
    return figure, sheet.narrow_layout()


def colour_range(axis: str, peak: float, unsigned: bool = False) -> dict[str, Any]:
    """What sets a colour axis to -peak … peak, an unsigned one to 0 … peak."""
    return ends_of_bar(axis, 0.0 if unsigned else -peak, peak)


def _marker() -> dict[str, Any]:
    return {
        "type": "rect", "xref": "x", "x0": -0.5, "x1": 0.5, "yref": "y domain", "y0": 0, "y1": 1,
        "line": {"color": hue("position"), "width": 2},
    }  # fmt: skip


def _matrix(title: str, names: tuple[str, str], sizes: tuple[int, int], bar: str | None) -> Pane:
    """A pane for a heatmap of ``sizes`` indices (across, down), index 0 on top."""
    return Pane(title, *names, whole(sizes[0]), whole(sizes[1], reverse=True), bar)
