"""One cell's arithmetic, with all the digits: what a click on a picture explains."""

from __future__ import annotations

import torch

from pages._ui.figures.equation import TERMS
from pages._ui.numbers import bracketed, written
from pages._ui.theme import tinted
from posembed_core import RotaryEncoding
from posembed_core.frequencies import split_pairs
from posembed_core.operations import Combined
from posembed_core.pictures.preview import Preview, Reading

_DIGITS = ".9g"  # these tell every float32 from its neighbours


def cell_at(preview: Preview, trace: str, x: object, y: object) -> tuple[int, ...]:
    """The matrix cell that is shown at a clicked point, () where there is none.

    (position, dimension); for the middle picture of a score bias (key, query, 1).
    """
    if trace not in TERMS or not isinstance(x, int | float) or not isinstance(y, int | float):
        return ()
    if trace == "position" and preview.shows_bias:
        return preview.rows.index(x), preview.queries.index(y), 1
    if trace == "combined" and preview.operation == "concat":
        # Drawn from twice the first dimension on (see words.look), then the same dimensions again.
        half = preview.columns.cells * preview.columns.step
        y -= preview.columns.start
        y -= half if y >= preview.columns.start + half - 0.5 else 0
    return preview.rows.index(x), preview.columns.index(y)


def has_cell(preview: Preview, cell: tuple[int, ...]) -> bool:
    """Whether the cell is one of this picture."""
    n, d = preview.shape
    if len(cell) == 3:
        return preview.shows_bias and cell[0] < n and cell[1] < n and cell[2] == 1
    return len(cell) == 2 and cell[0] < n and cell[1] < d


def arithmetic(reading: Reading, cell: tuple[int, ...]) -> str:
    """How the value of a cell (see `cell_at`) came about, in Markdown."""
    preview, (row, column) = reading.preview, cell[:2]
    if len(cell) == 3:
        return _of_bias(reading, column, row)
    exact = reading.row(row)
    e, h = exact.token[0, column], exact.combined[0, column]
    if isinstance(preview.encoding, RotaryEncoding):
        line = _of_rotation(reading, preview.encoding, exact, row, column)
    elif preview.encoding.acts_inside:
        line = f"{_h(row, column)} = {_e(row, column)} = **{_number(e)}**: position enters later"
    elif preview.operation == "concat":
        line = (
            f"{_h(row, column)} = {_e(row, column)} = **{_number(e)}**, and "
            f"{_h(row, preview.shape[1] + column)} = {_p(row, column)} = "
            f"**{_number(exact.moved[0, column])}**"
        )
    else:
        line = _of_sum(reading, exact, row, column)
    if preview.layer_norm is not None:
        line += f"; after LayerNorm {_h(row, column)} = **{_number(h)}**"
    return line


def _of_bias(reading: Reading, query: int, key: int) -> str:
    head, scale = reading.preview.head, reading.scale
    bias = reading.preview.bias(query, key)
    term = tinted("position", f"s · b[{query}, {key}]")
    return (
        f"Head {head + 1}, query {query}, key {key}: {term} = {written(scale)} · "
        f"{bracketed(bias, _DIGITS)} = "
        f"**{written(scale * bias, '.9g')}**, added to the score before softmax"
    )


def _of_sum(reading: Reading, exact: Combined, row: int, column: int) -> str:
    preview = reading.preview
    e, moved = exact.token[0, column], exact.moved[0, column]
    # The factor itself, so that a scale of 0 shows it too.
    p = preview.at(1.0).row(row).moved[0, column]
    times = preview.operation == "multiply"
    total = e * moved if times else e + moved
    sign = "·" if times else "+"
    return (
        f"{_h(row, column)} = {_e(row, column)} {sign} "
        f"{_p(row, column)} = {_number(e)} {sign} "
        f"{written(reading.scale)} · {bracketed(float(p), _DIGITS)} = **{_number(total)}**"
    )


def _of_rotation(
    reading: Reading, encoding: RotaryEncoding, exact: Combined, row: int, column: int
) -> str:
    width = encoding.rotary_dim
    if column >= width:
        return (
            f"{_h(row, column)} = {_e(row, column)} = {_number(exact.token[0, column])}: "
            f"dimensions from {width} on don't turn"
        )
    dimensions = torch.arange(width, dtype=torch.float64)
    firsts, seconds = split_pairs(dimensions, encoding.pairing)
    is_first = bool((firsts == column).any())
    pair = int(((firsts if is_first else seconds) == column).nonzero())
    a, b = int(firsts[pair]), int(seconds[pair])
    length = reading.preview.shape[0]
    angle = float(encoding.angles([row], length, scale=reading.scale)[0, pair])
    x, y = exact.token[0, a], exact.token[0, b]
    formula = (
        f"e[{row}, {a}] cos θ − e[{row}, {b}] sin θ"
        if is_first
        else f"e[{row}, {b}] cos θ + e[{row}, {a}] sin θ"
    )
    factor = encoding.attention_factor(length)
    formula = formula if factor == 1 else f"{written(factor, '.9g')} · ({formula})"
    return (
        f"{_h(row, column)} = {formula} with e[{row}, {a}] = {_number(x)}, e[{row}, {b}] = "
        f"{_number(y)} and θ = s · {row} · ω{_subscript(pair)} = {written(angle, '.9g')} rad: "
        f"**{_number(exact.moved[0, column] + exact.token[0, column])}**"
    )


def _number(value: torch.Tensor) -> str:
    return written(value, _DIGITS)


def _e(row: int, column: int) -> str:
    return tinted("token", f"e[{row}, {column}]")


def _p(row: int, column: int) -> str:
    return tinted("position", f"s · p[{row}, {column}]")


def _h(row: int, column: int) -> str:
    return tinted("combined", f"h[{row}, {column}]")


def _subscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
