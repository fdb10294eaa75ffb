"""Experiments on attention: one weight's arithmetic, shifts, four terms, distance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.attention.distance import (
    measured_half_lives,
    random_scores_at_distances,
    rotary_bound,
    scores_at_distances,
)
from posembed_core.attention.experiments import (
    four_terms,
    shift_test,
)
from posembed_core.attention.explain import explain_weight
from posembed_core.attention.layer import attend, random_projections
from tests.ui.attention.layers import (
    ADDITIVE,
    DIM,
    HEADS,
    PROJECTIONS,
    WIDTH,
    encoding_for,
    tokens,
)

every_encoding = pytest.mark.parametrize("slug", list(pc.encodings()))


# one weight


@every_encoding
def test_the_arithmetic_of_a_weight_adds_up(slug: str) -> None:
    encoding = encoding_for(slug)
    settings = {"scale": 0.8, "causal": True, "temperature": 0.9}
    whole = attend(tokens(), encoding, PROJECTIONS, **settings)
    step = explain_weight(tokens(), encoding, PROJECTIONS, head=1, query=6, key=2, **settings)
    assert step.weight == float(whole.weights[1, 6, 2])
    torch.testing.assert_close(step.token_query + step.position_query, step.input_query)
    query = PROJECTIONS.query[1].double() @ step.input_query + PROJECTIONS.query_bias[1].double()
    torch.testing.assert_close(step.q, query)
    assert step.content == pytest.approx(step.softmax_scale * float(step.q @ step.k))
    assert step.content + step.position_part == pytest.approx(step.score)
    assert step.logit == pytest.approx(step.score / 0.9)
    assert float(step.row[2]) == pytest.approx(step.logit)
    assert step.row[7:].tolist() == [-math.inf] * 2
    assert step.weight == pytest.approx(math.exp(step.logit - step.shift) / step.denominator)
    if isinstance(encoding, pc.AdditiveEncoding):
        assert step.position_part == pytest.approx(0, abs=1e-12)
    elif type(encoding) is type(pc.create("rope")):
        turned = step.softmax_scale * float(step.turned_q @ step.turned_k)
        assert turned == pytest.approx(step.score)


# probes


@pytest.mark.parametrize("slug", ["none", "alibi", "t5", "rope", "shaw", "deberta", "xpos"])
def test_shift_unnoticed(slug: str) -> None:
    result = shift_test(tokens(), encoding_for(slug), PROJECTIONS, shift=1000)
    assert result.maximum < 1e-9 * max(1, result.score_size)


def test_shift_noticed() -> None:
    result = shift_test(tokens(), encoding_for("sinusoidal"), PROJECTIONS, shift=1000)
    assert result.maximum > 1e-2
    learned = encoding_for("learned", max_seq_len=20)
    assert shift_test(tokens(), learned, PROJECTIONS, shift=5).maximum > 1e-2
    with pytest.raises(pc.EncodingError, match="position 20 has no row"):
        shift_test(tokens(), learned, PROJECTIONS, shift=12)


@pytest.mark.parametrize("slug", ADDITIVE)
@pytest.mark.parametrize("layer_norm", [None, pc.LayerNorm()])
def test_four_terms_add_up(slug: str, layer_norm: pc.LayerNorm | None) -> None:
    x = tokens(torch.float32)
    terms = four_terms(x, encoding_for(slug), PROJECTIONS, scale=1.5, layer_norm=layer_norm)
    assert terms.residual < 1e-5
    if slug == "none":
        assert terms.position_position.abs().max() == 0
    else:
        assert terms.content_position.abs().max() > 1e-2
        assert not torch.allclose(terms.content_position, terms.position_content.mT)


def test_four_terms_written_out() -> None:
    encoding = encoding_for("sinusoidal")
    plain = random_projections(DIM, HEADS)
    terms = four_terms(tokens(), encoding, plain)
    e, p = tokens()[2], encoding.table([5], torch.float64)[0]
    expected = (plain.query[1].double() @ e) @ (plain.key[1].double() @ p) / WIDTH**0.5
    assert float(terms.content_position[1, 2, 5]) == pytest.approx(float(expected))


# distance


def test_scores_at_distances() -> None:
    alibi = pc.create("alibi", num_heads=2)
    zeros = torch.zeros(2, WIDTH)
    biases = scores_at_distances(alibi, zeros, zeros, [0, 16, 7])
    assert (
        biases.tolist()
        == (-torch.outer(alibi.slopes, torch.tensor([0.0, 16, 7]).double())).tolist()
    )
    rope = pc.create("rope", head_dim=128)
    ones = torch.ones(128, dtype=torch.float64)
    scores = scores_at_distances(rope, ones, ones, [1, 10, 100]) / 128
    assert scores.tolist() == pytest.approx([0.9702, 0.6691, 0.4772], abs=6e-5)


@pytest.mark.parametrize("distances", [range(512), [0, 1, 10, 63, 100, 511], [100, 3]])
def test_cope_counts_every_key(distances: Sequence[int]) -> None:
    cope = pc.create("cope", head_dim=32)
    ones = torch.ones(32, dtype=torch.float64)
    factor = 32**-0.5
    scores = scores_at_distances(cope, ones, ones, distances, softmax_scale=factor)
    keys = ones.expand(512, 32)
    row = cope.scores(ones[None], keys, [511], range(512), softmax_scale=factor)[0].flip(0)
    torch.testing.assert_close(scores, row[list(distances)], rtol=0, atol=1e-12)


def test_cope_s_curve_is_flat_where_it_has_no_more_rows() -> None:
    cope = pc.create("cope", head_dim=32)
    ones = torch.ones(32, dtype=torch.float64)
    scores = scores_at_distances(cope, ones, ones, range(512), softmax_scale=32**-0.5)
    assert float(scores[100] - scores[63]) == pytest.approx(0, abs=1e-12)
    assert float(scores[63:].std()) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("slug", ["rope", "cope", "shaw", "alibi"])
def test_the_mean_of_random_scores_is_that_of_all_draws(slug: str) -> None:
    sizes = {"num_heads": 2} if slug == "alibi" else {"head_dim": 8}
    encoding = pc.create(slug, **sizes)
    scores = random_scores_at_distances(encoding, 8, [0, 3, 9], draws=40)
    vectors = torch.from_numpy(np.random.RandomState(0).randn(80, 8))
    q, k = vectors[:40], vectors[40:]
    if slug == "alibi":
        q, k = (x[:, None].expand(-1, 2, -1) for x in (q, k))
    each = scores_at_distances(encoding, q.float().double(), k.float().double(), [0, 3, 9])
    torch.testing.assert_close(scores.mean, each.mean(0), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(scores.standard_error, each.std(0) / 40**0.5, rtol=1e-6, atol=1e-6)


@given(st.floats(0.01, 2), st.floats(0.01, 1), st.sampled_from(["log", "power"]))
def test_kerple_halves_a_weight_where_its_formula_says(p: float, a: float, kernel: str) -> None:
    kerple = pc.create("kerple", num_heads=1, bias_p=(p,), bias_a=(a,), kernel=kernel)
    half = float(kerple.half_lives[0])
    p, a = kerple.p_and_a[:, 0].double().tolist()
    fall = p * math.log1p(a * half) if kernel == "log" else a * half**p
    assert fall == pytest.approx(math.log(2))
    if half < 8000:
        measured = float(measured_half_lives(kerple)[0])
        assert math.floor(half - 1e-3) <= measured <= math.ceil(half + 1e-3)


def test_the_bound_holds_for_any_vectors() -> None:
    rope = pc.create("rope", head_dim=16, pairing="interleaved")
    distances = range(200)
    bound = rotary_bound(rope, distances)
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        q, k = (torch.randn(16, generator=generator).double() for _ in range(2))
        products = (
            torch.view_as_complex(q.reshape(8, 2)) * torch.view_as_complex(k.reshape(8, 2)).conj()
        )
        jumps = torch.cat((products, products.new_zeros(1))).diff().abs().max()
        scores = scores_at_distances(rope, q, k, distances)
        assert (scores.abs() <= jumps * 8 * bound + 1e-9).all()


def test_half_lives_of_biases_that_never_fall() -> None:
    flat = pc.create("t5", num_heads=2, initializer_factor=0.0)
    assert measured_half_lives(flat, longest=50).tolist() == [math.inf, math.inf]
    steep = pc.create("alibi", num_heads=1)
    assert measured_half_lives(steep, longest=50).tolist() == [math.inf]
    assert measured_half_lives(steep, longest=400).tolist() == pytest.approx([177.4], abs=0.1)
    with pytest.raises(pc.EncodingError, match="at least 1, got 0"):
        measured_half_lives(steep, longest=0)


@pytest.mark.parametrize("slug", ["sinusoidal", "learned"])
@pytest.mark.parametrize("removed", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("norm", [None, pc.LayerNorm()])
def test_projections_turn_position_down(
    slug: str, removed: float, norm: pc.LayerNorm | None
) -> None:
    words = tokens().double()
    encoding = encoding_for(slug)
    whole = four_terms(words, encoding, PROJECTIONS, layer_norm=norm)
    part = four_terms(words, encoding, PROJECTIONS, layer_norm=norm, removed=removed)
    left = 1 - removed
    # Projections without biases: each vector of a position is read `left` times.
    torch.testing.assert_close(part.position_position, left**2 * whole.position_position)
    assert part.residual < 1e-9
    assert part.directions == len(words)
    if removed == 1:
        assert part.position_position.abs().max() < 1e-9
        assert part.content_position.abs().max() < 1e-9
        assert 0 < part.content_content.norm() < whole.content_content.norm()


def test_without_position_there_is_nothing_to_turn_down() -> None:
    words = tokens().double()
    none = four_terms(words, encoding_for("none"), PROJECTIONS, removed=1.0)
    assert none.directions == 0
    plain = four_terms(words, encoding_for("none"), PROJECTIONS)
    assert torch.equal(none.scores, plain.scores)
