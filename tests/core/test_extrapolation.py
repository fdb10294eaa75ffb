"""What an encoding says about lengths beyond training, against what it computes there."""

from __future__ import annotations

import pytest
import torch

import posembed_core as pc
from posembed_core.extrapolation import FAR, beyond
from tests.ui.attention.layers import WIDTH, encoding_for

every_encoding = pytest.mark.parametrize("slug", list(pc.encodings()))


@every_encoding
def test_the_answer_is_what_happens(slug: str) -> None:
    encoding = encoding_for(slug)
    answer = beyond(encoding)
    shape = (encoding.num_heads, 2, WIDTH) if isinstance(encoding, pc.BiasEncoding) else (2, WIDTH)
    if isinstance(encoding, pc.AdditiveEncoding):
        shape = (2, encoding.embed_dim)
    q = torch.ones(shape)
    positions = [FAR - 900, FAR]
    if answer.answer == "no":
        with pytest.raises(pc.EncodingError, match="has no row"):
            encoding.scores(q, q, positions, positions)
    else:
        assert encoding.scores(q, q, positions, positions).isfinite().all()
    assert answer.reason
    assert answer.reason[0].islower()


def test_a_table_ends_where_it_says() -> None:
    answer = beyond(pc.create("learned", max_seq_len=20))
    assert answer.answer == "no"
    assert "position 20 has no vector" in answer.reason
    table = pc.PositionTable(weight=torch.ones(30, 4), name="t", source="test", offset=2)
    assert "28 rows: position 28" in beyond(table).reason


def test_a_scaled_rope_says_by_how_much() -> None:
    assert "up to 6 times" in beyond(pc.create("rope-linear", factor=6.0)).reason
    assert beyond(pc.create("rope-linear", factor=1.0)) == beyond(pc.create("rope"))


@pytest.mark.parametrize("slug", ["t5", "shaw", "deberta"])
def test_distances_that_share_a_row_score_alike(slug: str) -> None:
    encoding = encoding_for(slug)
    q = torch.randn(2, 1, WIDTH, generator=torch.Generator().manual_seed(1))
    far = [encoding.scores(q, q, [FAR], [key]) for key in (0, 900)]
    torch.testing.assert_close(far[0], far[1])


@pytest.mark.parametrize(
    ("slug", "fields", "tensors"),
    [
        ("learned", {"max_seq_len": 20, "embed_dim": 6}, lambda e: [e.table(range(20))]),
        ("t5", {}, lambda e: [e.weight]),
        ("kerple", {}, lambda e: [e.p_and_a]),
        ("shaw", {}, lambda e: [e.key_table, e.value_table]),
        ("transformer-xl", {}, lambda e: [e.weight, e.biases]),
        ("cope", {}, lambda e: [e.weight]),
    ],
)
def test_parameters_are_counted(slug: str, fields: dict, tensors) -> None:
    encoding = pc.create(slug, **fields)
    assert encoding.parameter_count == sum(tensor.numel() for tensor in tensors(encoding))


def test_parameters_that_are_not_attributes() -> None:
    # P (1024 × 64) and two projections; two layers of 1-32-8 with biases, c and L.
    assert pc.create("deberta", head_dim=64).parameter_count == 1024 * 64 + 2 * 64 * 64
    assert pc.create("fire", num_heads=8).parameter_count == 32 + 32 + 32 * 8 + 8 + 2
    assert pc.create("rope").parameter_count == pc.create("alibi").parameter_count == 0
