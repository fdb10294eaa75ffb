"""Laws of single encodings and families; test_conformance has those that hold for every one."""

from __future__ import annotations

import inspect
import math

import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.attention.distance import (
    half_lives,
    measured_half_lives,
    random_scores_at_distances,
)
from posembed_core.attention.layer import random_projections
from posembed_core.attention.shuffle import permutation_test
from posembed_core.evidence import LAWS
from tests.core import test_conformance
from tests.strategies import legal, vectors

BY_ID = {law.id: law for law in LAWS}
few = examples(max_examples=10)

# Where each law is tested; a law without a test fails, and so does a test that is gone.
TESTS = {
    "conformance": [
        "test_one_position_at_a_time_equals_all_at_once",
        "test_the_contribution_is_finite_and_the_same_twice",
        "test_scores_have_the_shape_and_dtype_of_the_queries",
    ],
    "batch-independent": ["test_batch_entries_do_not_leak"],
    "no-position-at-zero": ["test_no_position_at_scale_zero"],
    "rotation-norm": ["test_rotation_keeps_norms"],
    "rotation-relative": ["test_rotated_products_see_only_the_distance"],
    "translation-invariant": ["test_shifts_go_unnoticed"],
    "permutation": ["test_without_position_tokens_have_no_order"],
    "toeplitz": ["test_the_sinusoids_gram_matrix_is_toeplitz"],
    "prefix": ["test_a_longer_table_begins_with_a_shorter_one"],
    "half-lives": ["test_alibi_halves_weights"],
    "monotone-buckets": ["test_buckets_rise_with_distance"],
    "alibi-is-kerple": ["test_alibi_is_the_power_kernel_with_exponent_one"],
    "fire-bounded": ["test_fire_distances_stay_between_zero_and_one"],
    "fire-shift": ["test_fire_ignores_shifts_within_its_threshold"],
    "shaw-vectors": ["test_shaw_equals_its_sums_written_out"],
    "transformer-xl-shift": ["test_transformer_xl_equals_the_shift_trick"],
    "cope-counts": ["test_cope_counts_towards_the_query"],
    "xpos-centre": ["test_xpos_does_not_depend_on_the_centre"],
}


def test_every_law_has_its_test() -> None:
    assert set(TESTS) == set(BY_ID)
    for law, names in TESTS.items():
        for name in names:
            test = globals().get(name) or getattr(test_conformance, name)
            assert inspect.isfunction(test), law


def of(law: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("slug", BY_ID[law].slugs)


@of("rotation-norm")
@few
@given(data=st.data())
def test_rotation_keeps_norms(slug: str, data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()[slug], rotary_fraction=1.0)
    positions = data.draw(st.lists(st.integers(-(10**7), 10**7), min_size=1, max_size=5))
    x = vectors(encoding, len(positions))
    turned = encoding.rotate(x, positions, seq_len=8192)
    expected = x.norm(dim=-1) * encoding.attention_factor(8192)
    torch.testing.assert_close(turned.norm(dim=-1), expected, rtol=1e-12, atol=1e-12)


@of("rotation-relative")
@few
@given(data=st.data(), shift=st.integers(-(10**6), 10**6))
def test_rotated_products_see_only_the_distance(slug: str, data: st.DataObject, shift: int) -> None:
    encoding = legal(data, pc.encodings()[slug])
    q, k = vectors(encoding, 4, 1), vectors(encoding, 4, 2)
    positions = torch.tensor([0, 1, 5, 300])
    original, moved = (
        encoding.rotate(q, at, 8192) @ encoding.rotate(k, at, 8192).mT
        for at in (positions, positions + shift)
    )
    size = encoding.attention_factor(8192) ** 2 * float(q.norm() * k.norm())
    # Angles near 10⁶ rad are known to 10⁻¹⁰.
    torch.testing.assert_close(moved, original, rtol=0, atol=1e-9 * size)


@of("translation-invariant")
@few
@given(data=st.data(), shift=st.integers(0, 10**6))
def test_shifts_go_unnoticed(slug: str, data: st.DataObject, shift: int) -> None:
    encoding = legal(data, pc.encodings()[slug])
    q, k = vectors(encoding, 5, 1), vectors(encoding, 5, 2)
    positions = torch.tensor([0, 3, 4, 30, 200])
    original = encoding.scores(q, k, positions, positions)
    moved = encoding.scores(q, k, positions + shift, positions + shift)
    size = max(1.0, float(original.abs().max()))
    torch.testing.assert_close(moved, original, rtol=0, atol=1e-8 * size)


@of("permutation")
@few
@given(data=st.data(), n=st.integers(1, 12))
def test_without_position_tokens_have_no_order(slug: str, data: st.DataObject, n: int) -> None:
    encoding = legal(data, pc.encodings()[slug])
    order = torch.tensor(data.draw(st.permutations(range(n))))
    q, k = vectors(encoding, n, 1), vectors(encoding, n, 2)
    shuffled = encoding.scores(q[order], k[order], range(n), range(n))
    original = encoding.scores(q, k, range(n), range(n))
    torch.testing.assert_close(shuffled, original[order][:, order], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("slug", [slug for slug in pc.encodings() if slug != "none"])
def test_with_position_they_have_one(slug: str) -> None:
    cls = pc.encodings()[slug]
    sizes = {"embed_dim": 16, "head_dim": 8, "num_heads": 2}
    known = {name: size for name, size in sizes.items() if name in cls.parameters()}
    encoding = pc.create(slug, **known)
    tokens = torch.randn(10, 16, generator=torch.Generator().manual_seed(0))
    result = permutation_test(tokens, encoding, random_projections(16, 2))
    # A table of biases is small at initialisation; a vector for each position is not.
    least = 1e-2 if isinstance(encoding, pc.AdditiveEncoding) else 1e-3
    assert result.frobenius > least


@few
@given(data=st.data(), n=st.integers(2, 12), start=st.integers(0, 10**6))
def test_the_sinusoids_gram_matrix_is_toeplitz(data: st.DataObject, n: int, start: int) -> None:
    encoding = legal(data, pc.encodings()["sinusoidal"])
    even = legal(data, pc.encodings()["sinusoidal"], embed_dim=encoding.embed_dim // 2 * 2)
    table = even.table(range(start, start + n), torch.float64)
    gram = table @ table.T
    torch.testing.assert_close(gram[1:, 1:], gram[:-1, :-1], rtol=0, atol=1e-8)
    torch.testing.assert_close(
        gram.diagonal(), torch.full((n,), even.embed_dim / 2, dtype=torch.float64)
    )


@few
@given(short=st.integers(1, 30), more=st.integers(0, 30), seed=st.integers(0, 2**32 - 1))
def test_a_longer_table_begins_with_a_shorter_one(short: int, more: int, seed: int) -> None:
    tables = [
        pc.create("learned", max_seq_len=rows, embed_dim=6, seed=seed).table(range(rows))
        for rows in (short, short + more)
    ]
    assert torch.equal(tables[1][:short], tables[0])


@few
@given(data=st.data())
def test_alibi_halves_weights(data: st.DataObject) -> None:
    alibi = legal(data, pc.encodings()["alibi"], alibi_bias_max=8.0)
    claimed = half_lives(alibi.slopes)
    torch.testing.assert_close(measured_half_lives(alibi), claimed, rtol=1e-5, atol=0)
    doubled = (2 * claimed).round().to(torch.int64)
    bias = alibi.bias([0], doubled)[:, 0].diagonal().double()
    expected = torch.exp(-alibi.slopes * doubled)
    torch.testing.assert_close(bias.exp(), expected, rtol=1e-5, atol=0)


@few
@given(data=st.data())
def test_buckets_rise_with_distance(data: st.DataObject) -> None:
    encoding = legal(data, pc.encodings()["t5"])
    distances = torch.arange(0, 2 * encoding.max_distance + 10)[:20_000]
    before = encoding.buckets([0], -distances)[0]
    after = encoding.buckets([0], distances)[0]
    assert (before.diff() >= 0).all()
    assert int(before.max()) <= encoding.num_buckets - 1
    if encoding.bidirectional:
        assert (after[1:].diff() >= 0).all()
        half = encoding.num_buckets // 2
        assert torch.equal(after[1:], before[1:] + half)
    else:
        assert (after == 0).all()


@few
@given(heads=st.integers(1, 40))
def test_alibi_is_the_power_kernel_with_exponent_one(heads: int) -> None:
    alibi = pc.create("alibi", num_heads=heads, alibi_bias_max=6.0)
    kernel = pc.create(
        "kerple",
        num_heads=heads,
        kernel="power",
        bias_p=(1.0,) * heads,
        bias_a=tuple(max(slope, 0.01) for slope in alibi.slopes.tolist()),
    )
    steep = alibi.slopes >= 0.01
    positions = [0, 1, 7, 500]
    torch.testing.assert_close(
        kernel.bias(positions, positions)[steep],
        alibi.bias(positions, positions)[steep],
        rtol=1e-6,
        atol=0,
    )


@few
@given(data=st.data(), query=st.integers(0, 10**7), back=st.integers(0, 10**7))
def test_fire_distances_stay_between_zero_and_one(
    data: st.DataObject, query: int, back: int
) -> None:
    encoding = legal(data, pc.encodings()["fire"])
    distances = encoding.normalised_distances([query], [query, max(0, query - back), 0])[0]
    assert float(distances[0]) == 0
    assert (distances >= 0).all()
    assert (distances <= 1).all()
    assert float(distances[1]) <= float(distances[2])


@few
@given(data=st.data(), shift=st.integers(0, 10**4))
def test_fire_ignores_shifts_within_its_threshold(data: st.DataObject, shift: int) -> None:
    encoding = legal(data, pc.encodings()["fire"], threshold=1e6)
    positions = torch.tensor([0, 3, 90])
    moved = encoding.bias(positions + shift, positions + shift)
    assert torch.equal(moved, encoding.bias(positions, positions))
    short = pc.create("fire", num_heads=encoding.num_heads, threshold=1.0)
    assert not torch.allclose(
        short.bias(positions + 500, positions + 500), short.bias(positions, positions)
    )


@few
@given(data=st.data())
def test_shaw_equals_its_sums_written_out(data: st.DataObject) -> None:
    shaw = legal(data, pc.encodings()["shaw"])
    assert not torch.equal(shaw.key_table, shaw.value_table)
    queries, keys = [0, 7, 8], [5, 0, 9, 100]
    q = vectors(shaw, 3)
    k = vectors(shaw, 4)
    weights = torch.rand(3, 4, generator=torch.Generator().manual_seed(3)).double()
    scores = torch.zeros(3, 4, dtype=torch.float64)
    values = torch.zeros(3, shaw.head_dim, dtype=torch.float64)
    most = shaw.max_relative_position
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            row = max(-most, min(most, key - query)) + most
            scores[i, j] = q[i] @ shaw.key_table[row].double()
            values[i] += weights[i, j] * shaw.value_table[row].double()
        torch.testing.assert_close(
            shaw.vectors(query, keys).double() @ q[i], scores[i], rtol=1e-9, atol=1e-9
        )
    torch.testing.assert_close(shaw.relative_scores(q, k, queries, keys), scores)
    torch.testing.assert_close(shaw.relative_values(weights, queries, keys), values)


@few
@given(data=st.data(), n=st.integers(1, 9))
def test_transformer_xl_equals_the_shift_trick(data: st.DataObject, n: int) -> None:
    encoding = legal(data, pc.encodings()["transformer-xl"])
    q, k = vectors(encoding, n, 1), vectors(encoding, n, 2)
    u, v = encoding.biases.double()
    # The paper's order: distances n-1 … 0, one row each.
    rows = encoding.sinusoid(range(n - 1, -1, -1)) @ encoding.weight.double().T
    unshifted = (q + v) @ rows.T
    padded = torch.cat((torch.zeros(n, 1, dtype=torch.float64), unshifted), dim=1)
    shifted = padded.reshape(n + 1, n)[1:].reshape(n, n)
    expected = (q + u) @ k.T + shifted
    seen = torch.ones(n, n, dtype=torch.bool).tril()
    scores = encoding.scores(q, k, range(n), range(n))
    torch.testing.assert_close(scores[seen], expected[seen], rtol=1e-9, atol=1e-9)


@few
@given(data=st.data(), n=st.integers(1, 9), seed=st.integers(0, 99))
def test_cope_counts_towards_the_query(data: st.DataObject, n: int, seed: int) -> None:
    encoding = legal(data, pc.encodings()["cope"])
    logits = 4 * torch.randn(n, n, generator=torch.Generator().manual_seed(seed))
    positions = encoding.contextual_positions(logits, range(n), range(n))
    for i in range(n):
        assert (positions[i, : i + 1].diff() <= 0).all()
        assert (positions[i, i + 1 :] == 0).all()
        most = torch.arange(i + 1, 0, -1).clamp(max=encoding.npos_max - 1)
        assert (positions[i, : i + 1] <= most + 1e-5).all()


@few
@given(data=st.data(), centre=st.integers(0, 200))
def test_xpos_does_not_depend_on_the_centre(data: st.DataObject, centre: int) -> None:
    encoding = legal(data, pc.encodings()["xpos"])
    positions = torch.tensor([0, 9, 100, 200])
    q, k = vectors(encoding, 4, 1), vectors(encoding, 4, 2)
    exponent = ((positions - centre).double() / encoding.scale_base)[:, None]
    factors = torch.ones(4, encoding.head_dim, dtype=torch.float64)
    factors[:, : encoding.rotary_dim] = encoding.per_dimension(encoding.zeta**exponent)
    expected = (encoding.rotate(q, positions) * factors) @ (
        encoding.rotate(k, positions) / factors
    ).T
    size = max(1.0, float(expected.abs().max()))
    torch.testing.assert_close(
        encoding.scores(q, k, positions, positions), expected, rtol=0, atol=1e-12 * size
    )


def test_the_mean_score_of_random_vectors_does_not_decay() -> None:
    rope = pc.create("rope", head_dim=32)
    scores = random_scores_at_distances(rope, 32, [0, 1, 10, 100, 1000], draws=2000)
    assert (scores.mean.abs() < 4 * scores.standard_error).all()
    assert scores.standard_error == pytest.approx(math.sqrt(32 / 2000), rel=0.1)
