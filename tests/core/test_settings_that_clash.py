"""Settings that are legal alone but not together: the error says what would be allowed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import posembed_core as pc

CLASHES: list[tuple[str, dict[str, Any], str, Any, str]] = [
    ("t5", {"num_buckets": 3}, "num_buckets", 4, "4 or more when bidirectional, got 3"),
    ("t5", {"max_distance": 8}, "max_distance", 9, "above 8, .* num_buckets=32, got 8"),
    (
        "t5",
        {"max_distance": 16, "bidirectional": False},
        "max_distance",
        17,
        "above 16, .* got 16",
    ),
    (
        "deberta",
        {"distances": "log", "max_relative_positions": 100},
        "max_relative_positions",
        130,
        "at least 130 with position_buckets=256, got 100",
    ),
    ("kerple", {"bias_p": (1.0, 1.0)}, "bias_p", None, "8 numbers, one for each head.* got 2"),
    ("kerple", {"num_heads": 1, "bias_a": (0.001,)}, "bias_a", (0.01,), "between 0.01 and"),
    (
        "kerple",
        {"num_heads": 1, "kernel": "power", "bias_p": (3.0,)},
        "bias_p",
        (2.0,),
        "between 0.01 and 2 with the power kernel",
    ),
]


@pytest.mark.parametrize(("slug", "fields", "field", "nearest", "words"), CLASHES)
def test_the_clash_is_named_and_the_nearest_value_is_legal(
    slug: str, fields: dict[str, Any], field: str, nearest: Any, words: str
) -> None:
    with pytest.raises(pc.EncodingError, match=words) as caught:
        pc.create(slug, **fields)
    assert caught.value.field == field
    assert caught.value.nearest == nearest
    if nearest is not None:
        pc.create(slug, **fields | {field: nearest})


def test_parameters_of_each_head_are_given_or_drawn() -> None:
    given = pc.create("kerple", num_heads=2, bias_p=(0.5, 2.0), bias_a=(0.25, 4.0))
    assert given.p_and_a.tolist() == [[0.5, 2.0], [0.25, 4.0]]
    drawn = pc.create("kerple", num_heads=200, seed=1).p_and_a
    assert (drawn >= 0.01).all()
    assert (drawn[0] < 2).all()
    assert (drawn[1] < 1).all()
    assert not torch.equal(drawn, pc.create("kerple", num_heads=200, seed=2).p_and_a)


@pytest.mark.parametrize("slug", ["alibi", "t5", "kerple", "fire"])
def test_some_heads_are_the_rows_of_all(slug: str) -> None:
    encoding = pc.create(slug, num_heads=6)
    positions = [0, 4, 900]
    whole = encoding.bias(positions, positions)
    for heads in (slice(3, 4), slice(0, 6, 2), slice(None)):
        torch.testing.assert_close(encoding.bias(positions, positions, heads=heads), whole[heads])


def test_a_key_too_far_ahead_is_refused_instead_of_infinite() -> None:
    xpos = pc.create("xpos", head_dim=4)
    x = torch.ones(1, 4, dtype=torch.float16)
    with pytest.raises(pc.EncodingError, match=r"8191 tokens after .*float16"):
        xpos.scores(x, x, [0], [8191])
    assert xpos.scores(x, x, [8191], [0]).isfinite().all()
    assert xpos.scores(x, x, [8191], [8190]).isfinite().all()
