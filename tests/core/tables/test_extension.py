"""A longer table says which of its rows are made up."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.tables.extension import by_formula, interpolated, longer

TABLE = torch.from_numpy(np.random.RandomState(3).randn(12, 6)).to(torch.float32)


def test_more_rows_are_untrained_and_of_the_same_spread():
    extended = longer(TABLE, 4000, seed=5)
    assert torch.equal(extended.weight[:12], TABLE)
    assert extended.original.tolist() == [True] * 12 + [False] * 3988
    assert extended.weight[12:].std().item() == pytest.approx(
        TABLE.std(correction=0).item(), rel=0.02
    )
    assert torch.equal(longer(TABLE, 20, seed=5).weight, extended.weight[:20])
    assert not torch.equal(longer(TABLE, 20, seed=6).weight, extended.weight[:20])
    assert extended.way == "untrained"


def test_twice_minus_one_interpolates_halfway():
    extended = interpolated(TABLE, 23)
    assert torch.equal(extended.weight[::2], TABLE)
    assert torch.allclose(extended.weight[1::2], (TABLE[1:] + TABLE[:-1]) / 2)
    assert extended.original.tolist() == [True, False] * 11 + [True]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(0, 200), st.integers(0, 99))
def test_interpolation_agrees_with_torch(rows, more, seed):
    table = torch.from_numpy(np.random.RandomState(seed).randn(rows, 4)).to(torch.float32)
    extended = interpolated(table, rows + more)
    reference = torch.nn.functional.interpolate(
        table.double().T[None], size=rows + more, mode="linear", align_corners=True
    )[0].T
    assert torch.allclose(extended.weight.double(), reference, atol=1e-6)
    old = {tuple(row) for row in table.tolist()}
    assert all(tuple(row) in old for row in extended.weight[extended.original].tolist())
    assert torch.equal(extended.weight[0], table[0])
    if rows + more > 1:
        assert torch.equal(extended.weight[-1], table[-1])


def test_the_same_length_is_the_same_table():
    for extended in (longer(TABLE, 12), interpolated(TABLE, 12)):
        assert torch.equal(extended.weight, TABLE)
        assert extended.original.all()


def test_a_formula_goes_on_where_the_table_ends():
    formula = pc.create("sinusoidal", embed_dim=6)
    extended = by_formula(TABLE, 20, formula)
    assert torch.equal(extended.weight[:12], TABLE)
    assert torch.equal(extended.weight[12:], formula.table(torch.arange(12, 20)))
    assert extended.original.sum() == 12


@pytest.mark.parametrize("extend", [longer, interpolated])
def test_a_length_that_is_not_allowed_is_refused(extend):
    with pytest.raises(
        pc.EncodingError, match="length must be between 12 and 8192, got 11; try 12"
    ):
        extend(TABLE, 11)
    with pytest.raises(pc.EncodingError, match="got 9000; try 8192"):
        extend(TABLE, 9000)
