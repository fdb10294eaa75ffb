"""Pairs before and after a scaling, and scores at any distance."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.frequencies import inverse_frequencies
from posembed_core.long_context.pairs import (
    MAX_DISTANCE,
    distance_edges,
    incomplete_pairs,
    mean_score,
    pair_table,
)
from posembed_core.model_config import known_configs


def test_kinds_of_pairs_of_llama_3() -> None:
    table = pair_table(pc.rotary_from_config(known_configs()["Llama 3.1 8B"]))
    assert table.kind == ("untouched",) * 29 + ("blended",) * 6 + ("interpolated",) * 29


def test_kinds_of_pairs_of_each_scaling() -> None:
    counts = {
        slug: Counter(pair_table(pc.create(slug, head_dim=128), 8192).kind)
        for slug in ("rope", "rope-linear", "rope-ntk", "rope-dynamic", "rope-proportional")
    }
    assert counts["rope"] == {"untouched": 64}
    assert counts["rope-linear"] == {"interpolated": 64}
    for slug in ("rope-ntk", "rope-dynamic"):
        assert counts[slug] == {"untouched": 1, "blended": 62, "interpolated": 1}
    assert counts["rope-proportional"] == {"untouched": 16, "still": 48}
    within = pair_table(pc.create("rope-dynamic", head_dim=128), 2048)
    assert set(within.kind) == {"untouched"}


def test_wavelengths_turns_and_phases() -> None:
    table = pair_table(pc.create("rope-linear", head_dim=128, factor=4))
    assert table.wavelength_before[-1].item() == pytest.approx(54_410, rel=1e-4)
    torch.testing.assert_close(table.wavelength_after, 4 * table.wavelength_before)
    before, after = table.turns(4096)
    assert before[0].item() == pytest.approx(4096 / (2 * math.pi))
    torch.testing.assert_close(before, 4 * after)
    before, after = table.phases(4096)
    assert ((before >= 0) & (before < 2 * math.pi)).all()
    torch.testing.assert_close(before.cos(), (4096 * table.before).cos())
    torch.testing.assert_close(after.sin(), (1024 * table.before).sin())
    seen = table.seen(4096)
    assert seen[0] == 2 * math.pi
    assert seen[-1] == 4096 * table.before[-1]


def test_pairs_that_never_complete_a_turn() -> None:
    inv_freq = inverse_frequencies(128, 1e4)
    # 2π * 1e4^(m/64) > 4096 from m = 46 on: 18 pairs.
    assert incomplete_pairs(inv_freq, 4096) == 18
    assert incomplete_pairs(inv_freq, 2**20) == 0
    assert incomplete_pairs(inv_freq, 6) == 64


@settings(max_examples=100, deadline=None)
@given(last=st.integers(1, MAX_DISTANCE), cells=st.integers(1, 600))
def test_edges_cover_every_distance_once(last: int, cells: int) -> None:
    edges = distance_edges(last, cells)
    assert edges[0] == 0
    assert edges[-1] == last
    assert (edges.diff() > 0).all()
    assert len(edges) <= cells + 1


@pytest.mark.parametrize("distance", [0, -3, MAX_DISTANCE + 1])
def test_the_number_of_edges_is_bounded(distance: int) -> None:
    with pytest.raises(pc.EncodingError, match="between 1 and 16,777,216"):
        distance_edges(distance, 10)


@settings(max_examples=40, deadline=None)
@given(last=st.integers(1, 20_000), cells=st.integers(1, 200), base=st.floats(2, 1e7))
def test_a_cell_is_the_mean_of_its_scores(last: int, cells: int, base: float) -> None:
    inv_freq = inverse_frequencies(16, base)
    edges = distance_edges(last, cells)
    scores = (torch.arange(last).double().unsqueeze(-1) * inv_freq).cos().mean(dim=-1)
    expected = torch.stack([cell.mean() for cell in scores.split(edges.diff().tolist())])
    torch.testing.assert_close(mean_score(inv_freq, edges), expected, rtol=0, atol=1e-11)


def test_scores_of_queries_and_keys_of_ones() -> None:
    inv_freq = inverse_frequencies(128, 1e4)
    means = mean_score(inv_freq, torch.arange(102))
    assert means[0] == 1.0
    for distance, expected in ((1, 0.9702), (10, 0.6691), (100, 0.4772)):
        assert means[distance].item() == pytest.approx(expected, abs=5e-5)
    # The encoding itself gives the same for vectors of ones.
    ones = torch.ones(1, 128, dtype=torch.float64)
    rope = pc.create("rope", head_dim=128)
    assert rope.scores(ones, ones, [100], [0]).item() / 128 == pytest.approx(means[100].item())


def test_the_attention_factor_counts_twice() -> None:
    inv_freq = inverse_frequencies(16, 1e4)
    edges = distance_edges(1000, 50)
    torch.testing.assert_close(mean_score(inv_freq, edges, 1.5), 2.25 * mean_score(inv_freq, edges))


def test_a_pair_that_stands_still_scores_1_at_any_distance() -> None:
    still = torch.zeros(3, dtype=torch.float64)
    assert (mean_score(still, distance_edges(MAX_DISTANCE, 64)) == 1.0).all()
