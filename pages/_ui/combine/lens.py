"""What the landing page says of the cell that is pointed at: e, s·p and h in their colours."""

from __future__ import annotations

from collections.abc import Mapping

from pages._ui import live
from pages._ui.combine.arithmetic import cell_at, has_cell
from pages._ui.numbers import written
from pages._ui.theme import tinted
from posembed_core import RelativeEncoding, RotaryEncoding
from posembed_core.pictures.preview import Preview, Reading
from posembed_core.pictures.resolution import Span

_NORMS = ("x4", "y4")
_PLACE = "position {across}, dimension {up}: "


def lens_of(
    reading: Reading, cell: tuple[int, ...], pointed: live.events.Click | None
) -> live.lens.Lens:
    """The groups of pictures; the clicked cell, which stays marked; the exact values asked for."""
    preview, mixes = reading.preview, reading.frame.mixes
    named = {"e": mixes["token"], "h": mixes["combined"]}
    if preview.operation == "concat":
        named["h"] = mixes["token"]  # the first half; before any LayerNorm
    is_apart = preview.encoding.acts_inside
    pictures = ("token", "combined") if is_apart else ("token", "position", "combined")
    if not is_apart:
        named["p"] = mixes["position"] if preview.is_of_another_kind else {"position": 1.0}
    groups = [live.lens.Group(pictures, _PLACE + _line(reading), _terms(named), norms=_NORMS)]
    if is_apart:
        middle = {"b": {"position": 1.0}, "sb": mixes["position"]}
        groups.append(live.lens.Group(("position",), _middle(reading), _terms(middle)))
    return live.lens.Lens(groups, _pin(preview, cell), _exact(reading, pointed))


def _pin(preview: Preview, cell: tuple[int, ...]) -> tuple[str, int, int] | None:
    """Where a cell (see `cell_at`) is in its picture; None where the picture doesn't show it."""
    if not cell:
        return None
    up = preview.queries if len(cell) == 3 else preview.columns
    places = [_place(cell[1], up), _place(cell[0], preview.rows)]
    if places[0] is None or places[1] is None:
        return None
    return "position" if len(cell) == 3 else "token", places[0], places[1]


def _place(index: int, shown: Span) -> int | None:
    return shown.indices.index(index) if index in shown.indices else None


def _line(reading: Reading) -> str:
    preview = reading.preview
    e, h = tinted("token", "{e}"), tinted("combined", "{h}")
    p = tinted("position", f"{written(reading.scale)} · {{p!}}")
    if preview.operation == "concat":
        return f"e = {e}, s · p = {p}; h has both"
    result = f"{h} after LayerNorm" if preview.layer_norm is not None else h
    if isinstance(preview.encoding, RotaryEncoding):
        cosine = tinted("position", "{p}")
        return f"e = {e}, turned by an angle whose cosine is {cosine}: h = {result}"
    if preview.encoding.acts_inside:
        return f"h = e = {e}" if preview.layer_norm is None else f"e = {e}, h = {result}"
    sign = "·" if preview.operation == "multiply" else "+"
    return f"{e} {sign} {p} {'→' if preview.layer_norm is not None else '='} {result}"


def _middle(reading: Reading) -> str:
    value = tinted("position", f"{written(reading.scale)} · {{b!}} = {{sb}}")
    if isinstance(reading.preview.encoding, RelativeEncoding):
        return f"key {{across}}, dimension {{up}}: s · a = {value}"
    return f"query {{up}}, key {{across}}: s · b = {value}"


def _terms(named: Mapping[str, Mapping[str, float]]) -> dict[str, list[tuple[str, float]]]:
    return {name: list(mix.items()) for name, mix in named.items()}


def _exact(reading: Reading, pointed: live.events.Click | None) -> live.lens.Exact | None:
    preview = reading.preview
    if pointed is None or pointed.row is None or pointed.column is None:
        return None
    cell = cell_at(preview, pointed.trace, pointed.x, pointed.y)
    if not cell or not has_cell(preview, cell):
        return None
    values = _values(preview, reading, pointed.trace, cell)
    return live.lens.Exact(pointed.trace, pointed.row, pointed.column, values)


def _values(
    preview: Preview, reading: Reading, trace: str, cell: tuple[int, ...]
) -> dict[str, float]:
    row, column = cell[:2]
    if len(cell) == 3:
        bias = preview.bias(column, row)
        return {"b": bias, "sb": reading.scale * bias}
    exact = reading.row(row)
    if trace == "position" and preview.encoding.acts_inside:
        whole = preview.at(1.0).row(row).position
        return {
            "b": float(whole[0, column]),
            "sb": float(exact.position[0, column]),
        }
    values = {"e": float(exact.token[0, column]), "h": float(exact.combined[0, column])}
    if preview.operation == "concat":
        values["h"] = values["e"]
    if isinstance(preview.encoding, RotaryEncoding):
        values["p"] = float(exact.position[0, column])
    elif not preview.encoding.acts_inside:
        values["p"] = float(preview.at(1.0).row(row).position[0, column])
    return values
