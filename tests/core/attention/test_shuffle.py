"""The shuffle test: what a shuffle may move, what it tells, and who notices it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from posembed_core.attention.layer import attend
from posembed_core.attention.shuffle import next_seed, permutation_test, telling_shuffle
from tests.ui.attention.layers import ADDITIVE, PROJECTIONS, N, encoding_for, tokens


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_permutation_without_position(dtype: torch.dtype) -> None:
    result = permutation_test(tokens(dtype), encoding_for("none"), PROJECTIONS, seed=3)
    assert result.maximum < (1e-5 if dtype == torch.float32 else 1e-13)
    assert sorted(result.permutation.tolist()) == list(range(N))
    assert result.permutation.tolist() != list(range(N))


@pytest.mark.parametrize("slug", [slug for slug in ADDITIVE if slug != "none"])
def test_permutation_with_an_input_encoding(slug: str) -> None:
    result = permutation_test(tokens(), encoding_for(slug), PROJECTIONS, seed=3)
    assert result.frobenius > 1e-2
    assert result.maximum <= result.frobenius
    assert float(result.error.norm()) == pytest.approx(result.frobenius)


def test_a_causal_mask_alone_tells_position() -> None:
    result = permutation_test(tokens(), encoding_for("none"), PROJECTIONS, seed=3, causal=True)
    assert result.frobenius > 0.1 * result.output_norm


def test_the_outputs_are_those_before_and_after() -> None:
    encoding, x = encoding_for("sinusoidal"), tokens(torch.float64)
    test = permutation_test(x, encoding, PROJECTIONS, seed=3, fixed=[0, N - 1])
    order = test.permutation
    assert order[[0, N - 1]].tolist() == [0, N - 1]
    assert torch.equal(test.before, attend(x, encoding, PROJECTIONS).output)
    assert torch.equal(test.after, attend(x[order], encoding, PROJECTIONS).output)
    moved = test.after - test.before[:, order]
    torch.testing.assert_close(test.error, moved.norm(dim=(0, 2)))


WORDS = st.lists(st.integers(0, 3), min_size=1, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)


def orders(words: list[int], fixed: set[int]) -> set[tuple[int, ...]]:
    """All texts that words make which stand still in some slots."""
    moving = [slot for slot in range(len(words)) if slot not in fixed]
    texts = set()
    for order in itertools.permutations(moving):
        text = list(words)
        for slot, index in zip(moving, order, strict=True):
            text[slot] = words[index]
        texts.add(tuple(text))
    return texts


@given(WORDS, st.sets(st.integers(0, 6)), SEEDS)
def test_a_shuffle_tells_of_the_order_wherever_one_can(
    words: list[int], fixed: set[int], seed: int
) -> None:
    vectors = torch.tensor(words, dtype=torch.float64)[:, None]
    order, tested, draws = telling_shuffle(vectors, seed, tuple(fixed))
    slots = order.tolist()
    assert sorted(slots) == list(range(len(words)))
    assert all(slots[slot] == slot for slot in fixed if slot < len(words))
    moved = tuple(words[index] for index in slots)
    changed = orders(words, fixed) - {tuple(words)}
    others = changed - {tuple(reversed(words))}
    assert tested == ("order" if others else "reversal" if changed else "nothing")
    assert tested == "nothing" or moved in (others or changed)
    random = np.random.RandomState(seed)
    moving = [slot for slot in range(len(words)) if slot not in fixed]
    drawn = [random.permutation(len(moving)) for _ in range(draws)][-1]
    assert [slots[slot] for slot in moving] == [moving[index] for index in drawn]


@given(WORDS, st.sets(st.integers(0, 6)), SEEDS)
def test_the_next_seed_makes_another_text_where_one_is_left(
    words: list[int], fixed: set[int], seed: int
) -> None:
    vectors, still = torch.tensor(words, dtype=torch.float64)[:, None], tuple(fixed)

    def text(of: int) -> list[int]:
        return [words[index] for index in telling_shuffle(vectors, of, still)[0].tolist()]

    changed = orders(words, fixed) - {tuple(words)}
    others = changed - {tuple(reversed(words))}
    after = next_seed(vectors, seed, still)
    assert (after is None) == (len(others or changed) < 2)
    if after is not None:
        assert 0 <= after < 2**32
        assert text(after) != text(seed)
