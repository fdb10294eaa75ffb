"""What a chart says of the cell that the reader points at: one line over the chart, live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Terms = Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Group:
    """Heatmaps whose cells belong together: pointing at one marks the same cell in all.

    One may have several times as many rows as the first: then a cell has one in each part.

    line: what is said, with colours as in `notes`; ``{across}`` and ``{up}`` are the indices that
        the cell shows, ``{name}`` is a value, ``{name!}`` the same in brackets if it is negative.
    values: name → arrays and their coefficients, as a chart's mixes.
    across, up: words instead of indices.
    norms: the axes of a picture below, as ("x4", "y4"), in which the column is marked.
    """

    pictures: Sequence[str]
    line: str
    values: Mapping[str, Terms]
    across: Sequence[str] = ()
    up: Sequence[str] = ()
    norms: Sequence[str] = ()


@dataclass(frozen=True)
class Exact:
    """The values of one cell of a heatmap, where those in the browser are rounded (int16)."""

    trace: str
    row: int
    column: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Lens:
    """All groups of a chart, and what is said while nothing is pointed at."""

    groups: Sequence[Group]
    pin: tuple[str, int, int] | None = None  # heatmap, row and column of a cell that stays marked
    exact: Exact | None = None
    hint: str = field(
        default="Point at a cell, or walk there with the arrow keys, to read it here."
    )
