"""Every measure on tables whose answer is known."""

import math

import numpy as np
import pytest
import scipy.spatial
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.pictures.resolution import Span, span
from posembed_core.tables.measures.analysis import (
    adjacent_cosine,
    centred,
    cosine_similarity,
    distance_decay,
    effective_rank,
    fourier_power,
    measure,
    patch_similarity,
    principal_components,
    procrustes_distance,
    row_norms,
    singular_values,
    sinusoid_distance,
)
from posembed_core.tables.measures.sinusoid_fit import SPACINGS, sinusoid


def noise(rows, columns, seed=0):
    return torch.from_numpy(np.random.RandomState(seed).randn(rows, columns)).to(torch.float32)


def sinusoidal(rows, columns, **fields):
    return pc.create("sinusoidal", embed_dim=columns, **fields).table(torch.arange(rows))


def whole(table):
    return Span(0, table.shape[0])


def cosines(table):
    return cosine_similarity(table, whole(table), whole(table))


def orthogonal(size, seed=1):
    return torch.linalg.qr(noise(size, size, seed).to(torch.float64)).Q


# norms and cosines


def test_the_sinusoid_s_norms_and_cosines_are_those_of_the_closed_form():
    table = sinusoidal(256, 512)
    assert torch.allclose(row_norms(table), torch.full((256,), 16.0, dtype=torch.float64))
    decay = distance_decay(table)
    expected = [0.9731, 0.9052, 0.7683, 0.7225, 0.6310, 0.5623, 0.4854, 0.4059]
    assert decay.values[[1, 2, 4, 8, 16, 32, 64, 128]].tolist() == pytest.approx(expected, abs=5e-5)
    assert decay.pairs.tolist() == list(range(256, 0, -1))
    toeplitz = cosines(table).values
    for lag in (1, 17, 128):
        assert toeplitz.diagonal(lag).std() < 1e-6
        assert toeplitz.diagonal(lag).mean().item() == pytest.approx(decay.values[lag].item())
    rising = distance_decay(sinusoidal(64, 128)).values
    assert rising[12] > rising[11]  # not monotone


def test_noise_has_norm_1_and_cosines_of_standard_deviation_one_over_root_d():
    table = pc.create("learned", max_seq_len=400, embed_dim=100).table(torch.arange(400))
    off = cosines(table).values[~torch.eye(400, dtype=torch.bool)]
    assert off.std().item() == pytest.approx(0.1, rel=0.02)
    assert adjacent_cosine(table) == pytest.approx(0, abs=0.02)
    assert row_norms(table).mean().item() == pytest.approx(1, abs=0.01)


def test_cosines_of_known_vectors():
    table = torch.tensor([[3.0, 0.0], [1.0, 1.0], [0.0, -2.0]])
    root = math.sqrt(0.5)
    expected = [[1, root, 0], [root, 1, -root], [0, -root, 1]]
    assert cosines(table).values.flatten().tolist() == pytest.approx(np.ravel(expected))
    assert adjacent_cosine(table) == pytest.approx(0)
    assert row_norms(table).tolist() == pytest.approx([3, math.sqrt(2), 2])
    assert distance_decay(table).values.tolist() == pytest.approx([1, 0, 0])


def test_a_zero_row_has_no_cosine_and_spoils_no_mean():
    table = noise(6, 4)
    table[2] = 0
    kept = table[[0, 1, 3, 4, 5]]
    matrix_of_cosines = cosines(table)
    assert not matrix_of_cosines.defined[2].any()
    assert not matrix_of_cosines.defined[:, 2].any()
    assert int(matrix_of_cosines.defined.sum()) == 25
    assert matrix_of_cosines.values.isfinite().all()
    assert torch.equal(matrix_of_cosines.cells().isnan(), ~matrix_of_cosines.defined)
    inside = matrix_of_cosines.values[matrix_of_cosines.defined].reshape(5, 5)
    assert torch.allclose(inside, cosines(kept).values)
    units = torch.nn.functional.normalize(table.to(torch.float64))
    pairs = [(0, 1), (3, 4), (4, 5)]
    expected = sum((units[i] @ units[j]).item() for i, j in pairs) / 3
    assert adjacent_cosine(table) == pytest.approx(expected)
    decay = distance_decay(table)
    assert decay.pairs.tolist() == [5, 3, 2, 2, 2, 1]
    assert decay.values[1].item() == pytest.approx(expected)
    cells = cosine_similarity(table, Span(0, 6, 3), Span(2, 3))
    assert cells.defined.tolist() == [[False], [False]]


def test_a_table_of_zeros_has_no_cosine_at_all():
    table = torch.zeros(4, 3)
    assert adjacent_cosine(table) is None
    assert not cosines(table).defined.any()
    assert distance_decay(table).pairs.tolist() == [0, 0, 0, 0]
    assert effective_rank(singular_values(table)) is None
    assert sinusoid_distance(table) is None
    assert measure(table).mean_norm == 0
    assert measure(table).three_components == 0


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 40), st.integers(2, 12), st.integers(0, 999), st.data())
def test_decays_are_means_over_all_pairs_and_cells_are_pairs(rows, columns, seed, data):
    table = noise(rows, columns, seed)
    zero = data.draw(st.sets(st.integers(0, rows - 1), max_size=rows))
    table[sorted(zero)] = 0
    matrix_of_cosines = cosines(table)
    decay = distance_decay(table)
    for lag in range(rows):
        has_cosine = matrix_of_cosines.defined.diagonal(lag)
        assert decay.pairs[lag] == has_cosine.sum()
        if has_cosine.any():
            mean = matrix_of_cosines.values.diagonal(lag)[has_cosine].mean().item()
            assert decay.values[lag].item() == pytest.approx(mean, abs=1e-12)
    down, across = span(rows, 3), span(rows, 4)
    cells = cosine_similarity(table, down, across)
    pairs = np.ix_(down.indices, across.indices)
    assert torch.equal(cells.defined, matrix_of_cosines.defined[pairs])
    assert torch.allclose(
        cells.cells(), matrix_of_cosines.cells()[pairs], atol=1e-12, equal_nan=True
    )


def test_centred_rows_have_mean_0_and_equal_rows_vanish():
    table = noise(9, 5) + 3
    assert torch.allclose(centred(table).mean(dim=0), torch.zeros(5, dtype=torch.float64))
    assert torch.equal(centred(torch.full((7, 3), 0.1)), torch.zeros(7, 3, dtype=torch.float64))
    least = torch.full((8192, 2), 0.1)
    least[0, 0] = torch.nextafter(least[0, 0], torch.tensor(1.0))
    assert centred(least)[:, 0].all()
    assert not centred(least)[:, 1].any()


def test_c22_each_patch_is_most_like_itself_in_its_own_tile():
    weight = noise(197, 768)
    table = pc.PositionTable(weight=weight, name="pos_embed", source="a test", offset=1)
    tiles = patch_similarity(table.rows).values
    assert tiles.shape == (196, 196)
    for row, column in np.ndindex(14, 14):
        tile = tiles[row * 14 : row * 14 + 14, column * 14 : column * 14 + 14]
        assert divmod(int(tile.argmax()), 14) == (row, column)
        assert tile[row, column].item() == pytest.approx(1)
    expected = torch.nn.functional.cosine_similarity(
        weight[1 + 3 * 14 + 5], weight[1 + 7 * 14 + 2], 0
    )
    assert tiles[3 * 14 + 7, 5 * 14 + 2].item() == pytest.approx(expected.item(), abs=1e-6)
    with pytest.raises(ValueError, match="must form a square, got 197 rows"):
        patch_similarity(weight)


# singular values, waves, components


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_equal_singular_values_give_their_number_as_effective_rank(rank):
    table = orthogonal(20, 1)[:, :rank] @ orthogonal(12, 2)[:rank]
    values = singular_values(table)
    assert values[:rank].tolist() == pytest.approx([1] * rank)
    assert values[rank:].tolist() == pytest.approx([0] * (12 - rank), abs=1e-12)
    assert effective_rank(values) == pytest.approx(rank)


def test_effective_rank_of_a_known_distribution():
    # shares 1/2, 1/4, 1/4: exp(1.5 ln 2)
    assert effective_rank(torch.tensor([2.0, 1.0, 1.0, 0.0])) == pytest.approx(2**1.5)


def test_singular_values_agree_with_scipy_and_the_frobenius_norm():
    table = noise(30, 17)
    values = singular_values(table)
    assert values.tolist() == pytest.approx(scipy.linalg.svdvals(table.double().numpy()).tolist())
    assert values.square().sum().item() == pytest.approx(table.double().square().sum().item())


def test_waves_that_fit_the_length_are_single_lines():
    positions = torch.arange(64, dtype=torch.float64)
    cycles = [1, 5, 16]
    columns = [f(2 * torch.pi * k * positions / 64) for k in cycles for f in (torch.sin, torch.cos)]
    power = fourier_power(torch.stack(columns, dim=1))
    assert power.frequencies.tolist() == pytest.approx([k / 64 for k in range(33)])
    expected = torch.zeros(33, 6)
    for pair, line in enumerate(cycles):
        expected[line, 2 * pair : 2 * pair + 2] = 0.5
    assert torch.allclose(power.power, expected, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 33), st.integers(1, 300), st.integers(0, 999))
def test_the_lines_of_a_column_sum_to_its_mean_square(rows, columns, seed):
    table = noise(rows, columns, seed)
    sums = fourier_power(table).power.sum(dim=0)
    assert torch.allclose(sums, table.square().mean(dim=0), rtol=1e-4)


def test_the_mean_and_the_fastest_change_of_sign_are_the_two_ends():
    signs = torch.tensor([1.0, -1.0] * 4)
    power = fourier_power(torch.stack((torch.full((8,), 3.0), 2 * signs), dim=1)).power
    assert power[:, 0].tolist() == pytest.approx([9, 0, 0, 0, 0], abs=1e-12)
    assert power[:, 1].tolist() == pytest.approx([0, 0, 0, 0, 4], abs=1e-12)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_components_agree_with_the_singular_value_decomposition(shape):
    table = noise(*shape) + 5
    matrix_of_cosines = principal_components(table, 3)
    u, s, vh = np.linalg.svd(centred(table).numpy(), full_matrices=False)
    assert matrix_of_cosines.shares.tolist() == pytest.approx((s[:3] ** 2 / (s**2).sum()).tolist())
    assert np.abs(matrix_of_cosines.curves.numpy()) == pytest.approx(
        np.abs(u[:, :3] * s[:3]), abs=1e-9
    )
    assert np.abs(matrix_of_cosines.directions.numpy()) == pytest.approx(np.abs(vh[:3].T), abs=1e-9)
    largest = matrix_of_cosines.directions.gather(
        0, matrix_of_cosines.directions.abs().argmax(dim=0, keepdim=True)
    )
    assert (largest > 0).all()


def test_the_components_of_a_helix_are_the_helix():
    # Two full turns, rising: circle radius 2, height 0.01 a step, hidden in 20 dimensions.
    angle = 4 * torch.pi * torch.arange(100, dtype=torch.float64) / 100
    height = torch.arange(100, dtype=torch.float64) / 100
    helix = torch.stack((2 * angle.cos(), 2 * angle.sin(), height), dim=1)
    matrix_of_cosines = principal_components(helix @ orthogonal(20)[:3], 5)
    assert matrix_of_cosines.shares[3:].tolist() == pytest.approx([0, 0], abs=1e-12)
    assert matrix_of_cosines.shares.sum().item() == pytest.approx(1)
    distances = torch.cdist(matrix_of_cosines.curves[:, :3], matrix_of_cosines.curves[:, :3])
    assert torch.allclose(distances, torch.cdist(helix, helix), atol=1e-6)


def test_there_are_never_more_components_than_axes():
    assert principal_components(noise(2, 9), 3).curves.shape == (2, 2)
    assert principal_components(noise(9, 2), 3).curves.shape == (9, 2)


# distance to a sinusoidal table


BASES = st.floats(math.log(2), math.log(1e7)).map(math.exp)


@settings(max_examples=12, deadline=None)
@given(
    BASES,
    st.sampled_from(SPACINGS),
    st.integers(5, 300),
    st.integers(3, 40),
    st.integers(0, 2**32 - 1),
)
def test_every_literal_sinusoid_is_at_distance_0(base, spacing, rows, columns, seed):
    table = sinusoid(rows, columns, base, spacing)
    order = torch.from_numpy(np.random.RandomState(seed).permutation(columns))
    fit = sinusoid_distance((2 * table[:, order] - 1).float())
    assert fit.distance < 1e-6
    # Its own base and spacing are one way to write it, maybe not the roundest.
    written = sinusoid(rows, columns, fit.base, fit.spacing)
    assert procrustes_distance(table, written) < 1e-6


@pytest.mark.parametrize(
    ("rows", "columns", "base", "spacing"),
    [
        (1500, 64, 10_000.0, "i/(half - 1)"),
        (512, 64, 20_000.0, "i/half"),
        (512, 64, 12_345.0, "i/half"),
        (1024, 32, 500_000.0, "i/half"),
        (300, 33, 10_000.0, "i/(half - 1)"),
    ],
)
def test_base_and_spacing_of_a_literal_sinusoid_are_found(rows, columns, base, spacing):
    fit = sinusoid_distance(sinusoid(rows, columns, base, spacing).float())
    assert (fit.base, fit.spacing) == (base, spacing)
    assert fit.distance < 1e-6


def test_whisper_s_sinusoids_are_those_of_transformers():
    from transformers.models.whisper.modeling_whisper import sinusoids

    assert torch.allclose(
        sinusoids(40, 16).double(), sinusoid(40, 16, 10_000.0, "i/(half - 1)"), atol=1e-5
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 300), st.integers(2, 24), st.integers(0, 2**32 - 1), st.floats(0, 5))
def test_no_other_base_is_nearer_by_much(rows, columns, seed, level):
    smooth = sinusoid(rows, columns, 3000.0, "i/half").roll(1, dims=1).cumsum(dim=0)
    table = smooth + level * noise(rows, columns, seed)
    fit = sinusoid_distance(table)
    for spacing in SPACINGS:
        for base in (10.0, 100.0, 1000.0, 10_000.0, 100_000.0):
            other = procrustes_distance(table, sinusoid(rows, columns, base, spacing))
            assert fit.distance <= other + 0.01


@pytest.mark.parametrize("base", [100.0, 10_000.0])
def test_a_turned_shifted_scaled_sinusoid_is_still_one(base):
    table = sinusoidal(60, 16, base=base).to(torch.float64)
    disguised = 3 * table @ orthogonal(16) + noise(1, 16, 5)
    matrix_of_cosines = sinusoid_distance(disguised)
    assert matrix_of_cosines.base == base
    assert matrix_of_cosines.distance == pytest.approx(0, abs=1e-9)
    concatenated = sinusoidal(60, 16, base=base, layout="concatenated")
    assert sinusoid_distance(concatenated).distance == pytest.approx(0, abs=1e-6)


def test_procrustes_agrees_with_scipy():
    first, second = noise(30, 6, 1), noise(30, 6, 2)
    *_, disparity = scipy.spatial.procrustes(first.double().numpy(), second.double().numpy())
    assert procrustes_distance(first, second) == pytest.approx(disparity)
    assert procrustes_distance(second, first) == pytest.approx(disparity)


def test_tables_with_nothing_in_common_are_at_distance_1():
    waves = torch.stack([torch.cos(2 * torch.pi * k * torch.arange(64) / 64) for k in (1, 2, 3, 4)])
    assert procrustes_distance(waves[:2].T, waves[2:].T) == pytest.approx(1, abs=1e-6)
    assert procrustes_distance(waves[:2].T, torch.ones(64, 2)) is None


def test_noise_is_further_from_a_sinusoid_than_the_sinusoid_with_noise():
    table = sinusoidal(128, 64)
    distances = [
        sinusoid_distance(table + level * noise(128, 64)).distance for level in (0, 0.3, 1, 3, 100)
    ]
    assert distances == sorted(distances)
    assert distances[-1] > 0.6


def test_the_measures_of_random_ours_and_a_sinusoid():
    spec = pc.TrainingSpec(max_seq_len=48, embed_dim=24, batch_size=8, steps=200)
    *_, result = pc.train_table(spec)
    random, ours, formula = (
        measure(table) for table in (spec.initial_table(), result.weight, sinusoidal(48, 24))
    )
    assert random.adjacent < 0.1 < 0.6 < ours.adjacent < formula.adjacent
    assert random.effective_rank > ours.effective_rank > formula.effective_rank
    assert random.sinusoid.distance > ours.sinusoid.distance > formula.sinusoid.distance
    assert formula.sinusoid.distance == pytest.approx(0, abs=1e-6)
    assert formula.mean_norm == pytest.approx(math.sqrt(12))
