"""What the lens says of a cell: the frame's own numbers, put together as the core does it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

import posembed_core as pc
from pages._ui.combine.lens import _pin, lens_of
from pages._ui.live.events import Click
from posembed_core.operations import LayerNorm
from posembed_core.pictures.preview import Preview, Reading
from tests.ui.combine.test_words import FAMILY, SHAPE, SLUGS, preview

SCALE = 0.7
CASES = [(slug, "add") for slug in SLUGS] + [
    ("sinusoidal", "multiply"), ("learned", "multiply"), ("sinusoidal", "concat"),
]  # fmt: skip


def values(reading: Reading, terms: Any, row: int, column: int) -> float:
    """Σ coefficient · array, as the browser works it out; channels are rows there."""
    return sum(
        factor * (float(reading.frame.arrays[name][column, row]) if name else 1.0)
        for name, factor in terms
    )


def shown(slug: str, operation: Any, layer_norm: bool) -> Reading:
    drawn: Preview = preview(
        slug, operation=operation, layer_norm=LayerNorm() if layer_norm else None
    )
    return drawn.at(SCALE)


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize(("slug", "operation"), CASES)
def test_the_lens_says_what_the_core_computes(slug: str, operation: Any, layer_norm: bool) -> None:
    reading = shown(slug, operation, layer_norm)
    group = lens_of(reading, (), None).groups[0]
    position, dimension = 5, 3
    combined = pc.combine(
        pc.random_tokens(*SHAPE), reading.preview.encoding, scale=SCALE, operation=operation,
        layer_norm=layer_norm,
    )  # fmt: skip
    numbers = {name: values(reading, terms, dimension, position)
            for name, terms in group.values.items()}  # fmt: skip
    assert numbers["e"] == pytest.approx(float(combined.token[position, dimension]), abs=1e-6)
    if operation != "concat":
        assert numbers["h"] == pytest.approx(
            float(combined.combined[position, dimension]), abs=2e-6
        )
    if slug in FAMILY[pc.AdditiveEncoding]:
        moved = float(combined.moved[position, dimension])
        assert SCALE * numbers["p"] == pytest.approx(moved, abs=1e-6)
        assert "0.7 · {p!}" in group.line
    if slug in FAMILY[pc.RotaryEncoding]:
        assert numbers["p"] == pytest.approx(
            float(combined.position[position, dimension]), abs=1e-6
        )
    named = set(re.findall(r"\{(\w+)!?\}", group.line)) - {"across", "up"}
    assert named <= set(group.values)
    if "=" in group.line and operation == "add" and not layer_norm and "+" in group.line:
        assert numbers["e"] + SCALE * numbers["p"] == pytest.approx(numbers["h"], abs=1e-6)


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize(("slug", "operation"), CASES)
def test_exact_values_are_those_that_were_rounded(
    slug: str, operation: Any, layer_norm: bool
) -> None:
    reading = shown(slug, operation, layer_norm)
    for group in lens_of(reading, (), None).groups:
        pointed = Click(group.pictures[0], 5.0, 3.0, row=3, column=5)
        exact = lens_of(reading, (), pointed).exact
        assert exact is not None
        assert (exact.trace, exact.row, exact.column) == (group.pictures[0], 3, 5)
        for name, terms in group.values.items():
            assert exact.values[name] == pytest.approx(values(reading, terms, 3, 5), abs=2e-6)


@pytest.mark.parametrize("slug", ["sinusoidal", "alibi"])
def test_a_clicked_cell_stays_marked_where_it_is_shown(slug: str) -> None:
    reading = shown(slug, "add", layer_norm=False)
    assert lens_of(reading, (5, 3), None).pin == ("token", 3, 5)
    assert lens_of(reading, (), None).pin is None
    if slug == "alibi":
        assert lens_of(reading, (5, 3, 1), None).pin == ("position", 3, 5)
    large = Preview(
        shape=(4096, 512), tokens=lambda: torch.zeros(1),
        encoding=pc.create("none", embed_dim=512), vectors=lambda _rows: torch.zeros(1),
    ).at(1.0)  # fmt: skip
    row, column = large.preview.rows.indices[7], large.preview.columns.indices[9]
    assert _pin(large.preview, (row, column)) == ("token", 9, 7)
    hidden = next(i for i in range(4096) if i not in large.preview.rows.indices)
    assert _pin(large.preview, (hidden, column)) is None
