"""Faults that users of other code reported, by their id in the project's list of numbers.

C22 is tested with the tables, and C35, C36, C40 and C47 with the configs and scalings. C71 needs an
encoding of vision models, which doesn't exist yet.
"""

from __future__ import annotations

import math

import pytest
import torch

import posembed_core as pc
from posembed_core import conventions as position_ids
from posembed_core.conventions import half_to_interleaved, interleaved_to_half
from posembed_core.frequencies import inverse_frequencies


def close(values: torch.Tensor, expected: list[float], tolerance: float = 6e-7) -> None:
    torch.testing.assert_close(
        values.double(), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
@pytest.mark.parametrize("dim", [3, 5, 7, 769])
def test_c01_odd_dimensions(dim: int, layout: str) -> None:
    table = pc.create("sinusoidal", embed_dim=dim, layout=layout).table([0, 1], torch.float64)
    column = [
        (math.cos if k % 2 else math.sin)(10000.0 ** -((k - k % 2) / dim)) for k in range(dim)
    ]
    expected = column if layout == "interleaved" else column[0::2] + column[1::2]
    close(table[1], expected, 1e-12)
    last = 10000.0 ** -((dim - 1) / dim)
    assert float(table[1].square().sum()) == pytest.approx(dim // 2 + math.sin(last) ** 2)


def test_c01_row_norm_of_five_channels() -> None:
    row = pc.create("sinusoidal", embed_dim=5).table([1], torch.float64)[0]
    assert float(row.square().sum()) == pytest.approx(2.0000004, abs=5e-8)


def test_c02_the_smallest_dimensions() -> None:
    positions = [0, 1, 5]
    two = pc.create("sinusoidal", embed_dim=2).table(positions, torch.float64)
    close(two.flatten(), [value for p in positions for value in (math.sin(p), math.cos(p))], 1e-12)
    three = pc.create("sinusoidal", embed_dim=3).table(positions)
    assert three.shape == (3, 3)


def test_c03_layouts_are_a_permutation_of_columns() -> None:
    tables = [
        pc.create("sinusoidal", embed_dim=8, layout=layout).table([1, 9])
        for layout in ("interleaved", "concatenated")
    ]
    assert not torch.equal(tables[0], tables[1])
    assert torch.equal(tables[0].sort(-1).values, tables[1].sort(-1).values)
    assert torch.equal(tables[0][:, 0::2], tables[1][:, :4])
    assert torch.equal(tables[0][:, 1::2], tables[1][:, 4:])


def test_c04_the_last_frequency_is_the_papers() -> None:
    # tensor2tensor's exponent i / (d/2 - 1) would end at 1e-4; the paper's 2i/d ends at 1e-3.
    ours = inverse_frequencies(8, 10000.0)
    close(ours, [1.0, 0.1, 0.01, 0.001], 1e-15)
    theirs = 10000.0 ** (-torch.arange(4, dtype=torch.float64) / 3)
    close(theirs.sin(), [0.84147, 0.0463992, 0.00215443, 0.0001], 1e-5)
    assert float((ours - theirs).abs().max()) > 0.04


def test_c06_the_index_is_not_doubled_twice() -> None:
    row = pc.create("sinusoidal", embed_dim=8).table([1])[0]
    wrong = torch.tensor([0.8415, 0.9950, 0.0100, 0.9999995])
    assert (row[1:4] - wrong[1:4]).abs().min() > 1e-5
    assert float(row[1]) == pytest.approx(0.5403, abs=5e-5)


@pytest.mark.parametrize("slug", ["sinusoidal", "learned"])
def test_c10_positions_follow_the_sequence_in_a_square_batch(slug: str) -> None:
    n = 3
    encoding = pc.create(slug, embed_dim=4)
    batch = torch.randn(n, n, 4, generator=torch.Generator().manual_seed(0))
    table = encoding.table(range(n))
    for entry in batch:
        added = pc.combine(entry, encoding).combined - entry
        torch.testing.assert_close(added, table, rtol=0, atol=1e-6)
    asked = encoding.table(torch.arange(n).expand(n, n))
    assert all(torch.equal(entry, table) for entry in asked)


def test_c14_roberta_starts_after_the_padding_index() -> None:
    ids = torch.tensor([[0, 31414, 232, 2, 1, 1]])
    assert position_ids.roberta(ids != 1, padding_idx=1).tolist() == [[2, 3, 4, 5, 1, 1]]
    assert position_ids.capacity(514, first=2) == 512


def test_c15_three_offsets_that_differ() -> None:
    mask = torch.tensor([[False, False, True, True, True]])
    assert position_ids.bart(mask).tolist() == [[2, 3, 4, 5, 6]]
    assert position_ids.opt(mask).tolist() == [[1, 1, 2, 3, 4]]
    assert position_ids.roberta(mask).tolist() == [[1, 1, 2, 3, 4]]


def test_c15_without_padding_all_start_at_two() -> None:
    mask = torch.ones(2, 4, dtype=torch.bool)
    for convention in (position_ids.bart, position_ids.opt, position_ids.roberta):
        assert convention(mask).tolist() == [[2, 3, 4, 5]] * 2


@pytest.mark.parametrize("position", [100, 10**7, -1])
def test_c17_positions_beyond_the_table(position: int) -> None:
    table = pc.create("learned", max_seq_len=100, embed_dim=4)
    with pytest.raises(pc.EncodingError) as caught:
        table.table([0, position])
    assert str(position) in str(caught.value)
    assert "100 rows" in str(caught.value)
    with pytest.raises(pc.EncodingError, match=r"position 100 .* 100 rows"):
        table.table(range(101))


def test_c18_left_padding_has_its_own_positions() -> None:
    mask = torch.tensor([[False, False, True, True, True], [True] * 5])
    assert position_ids.gpt2_generate(mask).tolist() == [[1, 1, 0, 1, 2], [0, 1, 2, 3, 4]]
    counted = position_ids.counted(mask)
    assert counted[mask].tolist() == [0, 1, 2, 0, 1, 2, 3, 4]
    assert counted[0, :2].tolist() == [-1, -1]


@pytest.mark.parametrize("slug", list(pc.encodings()))
def test_c20_decoding_from_an_offset(slug: str) -> None:
    encoding = pc.create(slug)
    width = getattr(encoding, "head_dim", getattr(encoding, "embed_dim", 4))
    heads = (encoding.num_heads,) if isinstance(encoding, pc.BiasEncoding) else ()
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(*heads, 8, width, generator=generator).double() for _ in range(2))
    whole = encoding.scores(q, k, range(8), range(8))
    for offset in (7, 3, 7):  # again, to catch a cache whose key forgets the offset
        row = encoding.scores(q[..., offset : offset + 1, :], k, [offset], range(8))
        torch.testing.assert_close(row[..., 0, :], whole[..., offset, :], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("slug", ["sinusoidal", "learned"])
def test_c20_two_offsets_give_two_rows(slug: str) -> None:
    encoding = pc.create(slug, embed_dim=8)
    whole = encoding.table(range(8))
    assert torch.equal(encoding.table([7])[0], whole[7])
    assert not torch.equal(encoding.table([7]), encoding.table([3]))


def test_c24_the_root_of_the_dimension_multiplies_the_token() -> None:
    tokens = torch.tensor([[-1.0, -1.0], [-1.0, 1.0]], dtype=torch.float64)
    encoding = pc.create("sinusoidal", embed_dim=2)
    plain = pc.combine(tokens, encoding).combined
    close(plain.flatten(), [-1, 0, -0.158529, 1.540302])
    scaled = pc.combine(tokens, encoding, sqrt_dim=True).combined
    close(scaled.flatten(), [-1.414214, -0.414214, -0.572743, 1.954516])


def test_c26_sum_concatenation_and_layer_norm() -> None:
    token = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
    encoding = pc.create("sinusoidal", embed_dim=4)  # position 0 is [0, 1, 0, 1]
    added = pc.combine(token, encoding)
    assert added.combined.tolist() == [[1, 3, 3, 5]]
    norms = added.norms()
    close(norms.token, [math.sqrt(30)], 1e-12)
    close(norms.position, [math.sqrt(2)], 1e-12)
    close(norms.combined, [math.sqrt(44)], 1e-12)
    joined = pc.combine(token, encoding, operation="concat").combined
    assert joined.tolist() == [[1, 2, 3, 4, 0, 1, 0, 1]]
    normed = pc.combine(token, encoding, layer_norm=True).combined
    close(normed[0], [-1.41421, 0, 0, 1.41421], 1e-5)


def test_c27_pair_layouts() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
    turned = {
        pairing: pc.create("rope", head_dim=4, pairing=pairing).rotate(x, [1])[0]
        for pairing in ("interleaved", "half")
    }
    close(turned["interleaved"], [-1.142640, 1.922076, 2.959851, 4.029799])
    close(turned["half"], [-1.984111, 1.959901, 2.462378, 4.019800])
    for out in turned.values():
        assert float(out.square().sum()) == pytest.approx(30)
    first = pc.create("rope", head_dim=4).rotate(x, [0])
    assert torch.equal(first, x)


def test_c28_converted_rows() -> None:
    rows = torch.arange(8.0)
    assert interleaved_to_half(rows, 1).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert interleaved_to_half(rows, 2).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    for heads in (1, 2, 4):
        assert torch.equal(half_to_interleaved(interleaved_to_half(rows, heads), heads), rows)


def test_c28_converted_weights_give_the_same_scores() -> None:
    generator = torch.Generator().manual_seed(0)
    heads, width, positions = 2, 6, [0, 3, 11]
    w_q, w_k = (torch.randn(heads * width, 5, generator=generator).double() for _ in range(2))
    x = torch.randn(3, 5, generator=generator).double()

    def scores(pairing: str, w_q: torch.Tensor, w_k: torch.Tensor) -> torch.Tensor:
        q, k = ((x @ w.T).unflatten(-1, (heads, width)).transpose(0, 1) for w in (w_q, w_k))
        return pc.create("rope", head_dim=width, pairing=pairing).scores(q, k, positions, positions)

    converted = [interleaved_to_half(w, heads) for w in (w_q, w_k)]
    interleaved = scores("interleaved", w_q, w_k)
    torch.testing.assert_close(scores("half", *converted), interleaved)
    assert not torch.allclose(scores("half", w_q, w_k), interleaved, atol=0.1)


@pytest.mark.parametrize("slug", ["rope", "xpos"])
def test_c32_odd_rotary_widths_are_refused_up_front(slug: str) -> None:
    with pytest.raises(pc.EncodingError, match=r"even.*got 3.*0\.75.*4"):
        pc.create(slug, head_dim=4, rotary_fraction=0.75)
    with pytest.raises(pc.EncodingError, match="got 9; try 10"):
        pc.create(slug, head_dim=9)


def test_c57_the_first_slope_is_not_one() -> None:
    slopes = pc.create("alibi", num_heads=8).slopes.tolist()
    assert (slopes[0], slopes[-1]) == (0.5, 0.00390625)


def test_c60_an_encoder_needs_the_symmetric_bias() -> None:
    bias = pc.create("alibi", num_heads=8).bias(range(4), range(4))[3]  # slope 1/16
    expected = [[-abs(i - j) / 16 for j in range(4)] for i in range(4)]
    assert bias.tolist() == expected
    assert torch.equal(bias, bias.T)


def test_c67_distances_beyond_the_table_are_clipped() -> None:
    shaw = pc.create("shaw", max_relative_position=2)
    rows = shaw.indices(range(6), range(6))
    assert rows[0].tolist() == [2, 3, 4, 4, 4, 4]
    assert rows[5].tolist() == [0, 0, 0, 0, 1, 2]
    assert shaw.key_table.shape[0] == 5
    long = pc.create("shaw", max_relative_position=10).indices(range(12), range(12))
    assert (int(long.min()), int(long.max())) == (0, 20)


def test_c68_the_shift_trick_is_right_below_the_diagonal_only() -> None:
    scores = torch.arange(1.0, 10).reshape(3, 3)
    padded = torch.cat((torch.zeros(3, 1), scores), dim=1).reshape(4, 3)
    assert padded[1:].tolist() == [[3, 0, 4], [5, 6, 0], [7, 8, 9]]
    assert padded[:-1].tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]  # the fault
    # Our scores ask for i - j directly, so they are right above the diagonal too.
    encoding = pc.create("transformer-xl", head_dim=4)
    q, k = (torch.randn(3, 4, generator=torch.Generator().manual_seed(s)) for s in (0, 1))
    relative = encoding.relative_scores(q, k, range(3), range(3))
    u, v = encoding.biases
    for i in range(3):
        for j in range(3):
            r = encoding.weight @ encoding.sinusoid([i - j])[0].float()
            assert float(relative[i, j]) == pytest.approx(
                float((q[i] + v) @ r + k[j] @ u), abs=1e-5
            )


def test_c69_both_directions_of_p2c() -> None:
    positions = range(6)
    released, paper = (
        pc.create("deberta", max_relative_positions=3, p2c=p2c).rows(positions, positions)
        for p2c in ("released", "paper")
    )
    assert torch.equal(released[0], released[1])
    assert torch.equal(released[0], paper[0])
    assert torch.equal(paper[1], paper[0].T)
    assert released[0, 0].tolist() == [3, 2, 1, 0, 0, 0]
    assert released[0, 5].tolist() == [5, 5, 5, 5, 4, 3]
    options = pc.encodings()["deberta"].parameters()["p2c"]
    assert options.label == "Position to content"
