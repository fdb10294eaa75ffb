"""Known numbers: every entry of the evidence, and the claims that formulas make."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

import posembed_core as pc
from posembed_core.attention.distance import mean_cosine, rotary_bound
from posembed_core.evidence import ALL, GOLDEN, LAWS, Golden, evidence_for


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: f"{golden.id}-{golden.fault}")
def test_known_numbers(golden: Golden) -> None:
    assert golden.holds(), f"expected {golden.expected}, got {golden.computed()}"


def test_a_wrong_number_does_not_hold() -> None:
    for golden in GOLDEN:
        off = torch.tensor(golden.expected, dtype=torch.float64) + 3 * golden.tolerance + 1e-9
        assert not dataclasses.replace(golden, expected=off.tolist()).holds(), golden.id
        assert not dataclasses.replace(golden, expected=[golden.expected]).holds(), golden.id


def test_every_encoding_has_evidence_and_ids_are_unique() -> None:
    assert len({check.id for check in ALL}) == len(ALL)
    for slug in pc.encodings():
        kinds = {type(check).__name__ for check in evidence_for(slug)}
        assert "Law" in kinds, slug
        specific = [check for check in evidence_for(slug) if check not in LAWS[:3]]
        assert specific, slug
    of_files = {pc.PositionTable.slug}  # tables that are data, in no registry
    assert {slug for check in ALL for slug in check.slugs} == set(pc.encodings()) | of_files


# sinusoidal


@pytest.mark.parametrize(("dim", "norm"), [(128, 8.000), (768, 19.596)])
def test_every_row_of_the_sinusoid_has_the_same_norm(dim: int, norm: float) -> None:
    table = pc.create("sinusoidal", embed_dim=dim).table([0, 1, 77, 100_000], torch.float64)
    assert torch.allclose(table.norm(dim=-1), torch.tensor((dim / 2) ** 0.5, dtype=torch.float64))
    assert float(table[1].norm()) == pytest.approx(norm, abs=5e-4)


def cosines(dim: int, offsets: list[int]) -> list[float]:
    table = pc.create("sinusoidal", embed_dim=dim).table([0, *offsets], torch.float64)
    return (table[1:] @ table[0] / (dim / 2)).tolist()


def test_similarity_of_sinusoids() -> None:
    table = pc.create("sinusoidal", embed_dim=8).table(range(60), torch.float64)
    dots = torch.tensor([float(table[p] @ table[p + 7]) for p in range(50)])
    assert torch.allclose(dots, torch.tensor(3.5162709410), atol=1e-9)
    assert cosines(8, [0, 1, 2, 3, 4]) == pytest.approx(
        [1, 0.883814, 0.640929, 0.491222, 0.566652], abs=6e-7
    )
    assert cosines(512, [1, 2, 4, 8, 16, 32, 64, 128]) == pytest.approx(
        [0.9731, 0.9052, 0.7683, 0.7225, 0.6310, 0.5623, 0.4854, 0.4059], abs=6e-5
    )


def test_similarity_of_sinusoids_is_not_monotone() -> None:
    rising = np.diff(cosines(128, list(range(1, 20)))) > 0
    assert int(np.argmax(rising)) + 1 == 11  # the first rise is from offset 11 to 12


def test_the_longest_wavelength() -> None:
    inv_freq = pc.create("rope", head_dim=128).inv_freq()
    assert 2 * math.pi / float(inv_freq[-1]) == pytest.approx(54_410, abs=1)


def test_dimension_two_is_one_sine_and_one_cosine() -> None:
    table = pc.create("sinusoidal", embed_dim=2).table(range(5), torch.float64)
    positions = torch.arange(5, dtype=torch.float64)
    assert torch.equal(table, torch.stack((positions.sin(), positions.cos()), dim=-1))


# learned


def test_rows_of_a_random_table() -> None:
    table = pc.create("learned", max_seq_len=512, embed_dim=256).table(range(512)).double()
    norms = table.norm(dim=-1)
    assert float((norms - 1).abs().max()) < 5 / math.sqrt(2 * 256)
    unit = table / norms[:, None]
    off_diagonal = (unit @ unit.T)[~torch.eye(512, dtype=torch.bool)]
    assert float(off_diagonal.std()) == pytest.approx(256**-0.5, rel=0.02)


# rotary


def test_the_decay_bound_of_rope() -> None:
    rope = pc.create("rope", head_dim=128)
    assert rotary_bound(rope, [8, 50, 100, 250]).tolist() == pytest.approx(
        [19.82, 12.63, 10.23, 6.55], abs=6e-3
    )
    assert mean_cosine(rope, [1, 10, 100]).tolist() == pytest.approx(
        [0.9702, 0.6691, 0.4772], abs=6e-5
    )


def test_the_yarn_factor_multiplies_scores_by_its_square() -> None:
    yarn = pc.create("rope-yarn", head_dim=128, factor=4.0)
    x = torch.ones(1, 128, dtype=torch.float64)
    score = float(yarn.scores(x, x, [0], [0])) / 128
    assert score == pytest.approx(1.296477, abs=6e-7)
    assert yarn.attention_factor() == pytest.approx(1.138629436, abs=6e-10)


def test_longrope_attention_factors() -> None:
    for factor, original, expected in ((32.0, 4096, 1.190238), (16.0, 8192, 1.143544)):
        encoding = pc.create(
            "rope-longrope", factor=factor, original_max_position_embeddings=original
        )
        assert encoding.attention_factor() == pytest.approx(expected, abs=6e-7)


# scores


def test_half_lives_of_alibi_in_words() -> None:
    slopes = pc.create("alibi").slopes
    lives = math.log(2) / slopes
    assert lives[:2].tolist() == pytest.approx([1.39, 2.77], abs=6e-3)
    assert float(lives[-1]) == pytest.approx(177.4, abs=0.06)


def test_bucket_sixteen_is_never_used() -> None:
    buckets = pc.create("t5").buckets([500], range(1001))
    assert sorted(set(buckets.flatten().tolist())) == [*range(16), *range(17, 32)]


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("count", "most"), [(32, 128), (64, 1000), (8, 5), (33, 40)])
def test_buckets_follow_the_integer_rule(bidirectional: bool, count: int, most: int) -> None:
    encoding = pc.create("t5", num_buckets=count, max_distance=most, bidirectional=bidirectional)
    n = count // 2 if bidirectional else count
    exact = n // 2
    distances = range(most + 50)
    buckets = encoding.buckets([most + 50], [most + 50 - distance for distance in distances])[0]
    for distance, bucket in zip(distances, buckets.tolist(), strict=True):
        expected = distance
        if distance >= exact:
            steps = [
                k
                for k in range(n - exact)
                if most**k * exact ** (n - exact) <= distance ** (n - exact) * exact**k
            ]
            expected = exact + max(steps)
        assert bucket == expected, distance


# precision


def test_angles_do_not_lose_precision_far_out() -> None:
    positions = [512, 131_072]
    exact = pc.create("sinusoidal", embed_dim=512).table(positions, torch.float64)
    ours = pc.create("sinusoidal", embed_dim=512).table(positions, torch.float32)
    assert float((ours - exact).abs().max()) < 6e-8
    # The same table with float32 angles, as most code makes it, is off by this much.
    inv_freq = 1.0 / (10000 ** (torch.arange(0, 512, 2, dtype=torch.float32) / 512))
    angles = torch.tensor(positions, dtype=torch.float32)[:, None] * inv_freq
    errors = (angles.sin() - exact[:, 0::2]).abs().amax(-1)
    assert 1e-6 < float(errors[0]) < 1.5e-4
    assert 1e-4 < float(errors[1]) < 3e-2


def test_integers_in_bfloat16() -> None:
    positions = torch.arange(256, 263)
    assert positions.bfloat16().tolist() == [256, 256, 258, 260, 260, 260, 262]
    ours = pc.create("sinusoidal", embed_dim=8).table(positions, torch.bfloat16)
    exact = pc.create("sinusoidal", embed_dim=8).table(positions, torch.float64)
    assert torch.equal(ours, exact.bfloat16())
