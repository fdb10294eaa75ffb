"""Attention with every encoding: against sums written out, and against a real model."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

import posembed_core as pc
from posembed_core.attention.experiments import four_terms
from posembed_core.attention.explain import explain_weight
from posembed_core.attention.layer import attend, causal_mask
from posembed_core.tables.position_table import CheckpointError
from posembed_core.tokens.projections import read_projections
from tests.ui.attention.layers import DIM, HEADS, PROJECTIONS, WIDTH, N, encoding_for, tokens

every_encoding = pytest.mark.parametrize("slug", list(pc.encodings()))


@every_encoding
@pytest.mark.parametrize("causal", [False, True])
def test_weights_are_the_softmax_of_the_allowed_scores(slug: str, *, causal: bool) -> None:
    encoding = encoding_for(slug)
    attention = attend(tokens(), encoding, PROJECTIONS, scale=0.7, causal=causal, temperature=1.3)
    assert attention.scores.dtype == torch.float64
    assert attention.scores.shape == attention.weights.shape == (HEADS, N, N)
    for head in range(HEADS):
        for i in range(N):
            seen = range(i + 1) if causal else range(N)
            powers = [math.exp(float(attention.scores[head, i, j]) / 1.3) for j in seen]
            row = [power / sum(powers) for power in powers]
            assert attention.weights[head, i].tolist() == pytest.approx(
                row + [0.0] * (N - len(row))
            )


def test_scores_written_out_for_each_family() -> None:
    x, positions = tokens(), list(range(3, 3 + N))
    w = {name: getattr(PROJECTIONS, name).double() for name in ("query", "key")}
    b = {name: getattr(PROJECTIONS, f"{name}_bias").double() for name in ("query", "key")}

    def q_and_k(inputs: torch.Tensor, head: int) -> list[torch.Tensor]:
        return [inputs @ w[name][head].T + b[name][head] for name in ("query", "key")]

    sinusoidal, alibi, rope = (encoding_for(slug) for slug in ("sinusoidal", "alibi", "rope"))
    for head in range(HEADS):
        q, k = q_and_k(x + 0.5 * sinusoidal.table(positions, torch.float64), head)
        scores = attend(x, sinusoidal, PROJECTIONS, positions, scale=0.5).scores[head]
        torch.testing.assert_close(scores, q @ k.T / WIDTH**0.5)
        q, k = q_and_k(x, head)
        scores = attend(x, alibi, PROJECTIONS, positions, scale=0.5).scores[head]
        bias = alibi.bias(positions, positions)[head].double()
        torch.testing.assert_close(scores, q @ k.T / WIDTH**0.5 + 0.5 * bias)
        scores = attend(x, rope, PROJECTIONS, positions, scale=0.5).scores[head]
        halved = [rope.rotate(vectors, positions, scale=0.5) for vectors in (q, k)]
        torch.testing.assert_close(scores, halved[0] @ halved[1].T / WIDTH**0.5)


def test_shaw_adds_to_the_values_too() -> None:
    shaw = encoding_for("shaw")
    attention = attend(tokens(), shaw, PROJECTIONS)
    added = torch.zeros_like(attention.output)
    for i in range(N):
        rows = shaw.value_table[shaw.indices([i], range(N))[0]].double()
        added[:, i] = attention.weights[:, i] @ rows
    torch.testing.assert_close(attention.output - attention.weights @ attention.v, added)


def test_softmax_scales() -> None:
    x = tokens()
    plain = attend(x, encoding_for("none"), PROJECTIONS).scores
    t5 = attend(x, encoding_for("t5"), PROJECTIONS, scale=0.0).scores
    deberta = attend(x, encoding_for("deberta"), PROJECTIONS, scale=0.0).scores
    torch.testing.assert_close(t5, plain * WIDTH**0.5)
    torch.testing.assert_close(deberta, plain / 3**0.5)


@every_encoding
def test_heads_do_not_leak(slug: str) -> None:
    attention = attend(tokens(), encoding_for(slug), PROJECTIONS)
    other = torch.cat((PROJECTIONS.query[:1], 2 * PROJECTIONS.query[1:]))
    changed = attend(tokens(), encoding_for(slug), dataclasses.replace(PROJECTIONS, query=other))
    assert torch.equal(changed.weights[0], attention.weights[0])
    assert not torch.allclose(changed.weights[1], attention.weights[1])


def test_the_mask_goes_by_position_not_by_slot() -> None:
    assert causal_mask([0, 5, 2], [0, 5, 2]).tolist() == [
        [True, False, False],
        [True, True, True],
        [True, False, True],
    ]


@pytest.mark.parametrize(
    ("slug", "fields", "field"),
    [
        ("sinusoidal", {"embed_dim": 8}, "embed_dim"),
        ("alibi", {"num_heads": 3}, "num_heads"),
        ("rope", {"head_dim": 16}, "head_dim"),
        ("shaw", {"head_dim": 16}, "head_dim"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(slug: str, fields: dict, field: str) -> None:
    with pytest.raises(pc.EncodingError, match=r"must be \d+ .* got \d+") as caught:
        attend(tokens(), pc.create(slug, **fields), PROJECTIONS)
    assert caught.value.field == field


def test_other_bad_input_is_refused() -> None:
    none = encoding_for("none")
    with pytest.raises(pc.EncodingError, match="each of the 9 tokens, got 2"):
        attend(tokens(), none, PROJECTIONS, [0, 1])
    with pytest.raises(pc.EncodingError, match="above 0, got 0"):
        attend(tokens(), none, PROJECTIONS, temperature=0.0)
    with pytest.raises(pc.EncodingError, match="head must be between 0 and 1, got 2"):
        explain_weight(tokens(), none, PROJECTIONS, head=2, query=0, key=0)
    with pytest.raises(pc.EncodingError, match="key must be between 0 and 8, got -1"):
        explain_weight(tokens(), none, PROJECTIONS, head=0, query=0, key=-1)
    with pytest.raises(pc.EncodingError, match="four terms"):
        four_terms(tokens(), encoding_for("rope"), PROJECTIONS)


# a real model


def test_first_layer_of_a_bert_as_transformers_computes_it(tmp_path) -> None:
    config = BertConfig(
        hidden_size=DIM,
        num_attention_heads=HEADS,
        num_hidden_layers=2,
        intermediate_size=8,
        vocab_size=30,
        max_position_embeddings=12,
        attn_implementation="eager",
    )
    torch.manual_seed(0)
    model = BertModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # initialised biases are 0, weights tiny
            parameter.normal_(std=0.5)
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    ids = torch.tensor([[3, 7, 7, 1, 20]])
    theirs = model(ids, output_attentions=True).attentions[0][0]
    embeddings = model.embeddings
    table = pc.PositionTable(
        weight=embeddings.position_embeddings.weight.detach(), name="real", source="test"
    )
    words = embeddings.word_embeddings.weight[ids[0]] + embeddings.token_type_embeddings.weight[0]
    norm = embeddings.LayerNorm
    layer_norm = pc.LayerNorm(norm.weight.detach(), norm.bias.detach(), norm.eps)
    projections = read_projections(tmp_path)
    ours = attend(words.detach(), table, projections, layer_norm=layer_norm)
    torch.testing.assert_close(ours.weights, theirs.detach(), rtol=0, atol=1e-5)
    terms = four_terms(words.detach(), table, projections, layer_norm=layer_norm)
    assert terms.residual < 1e-5 * float(terms.scores.abs().max())


def test_gpt2_weights_are_read_too(tmp_path) -> None:
    config = GPT2Config(n_embd=DIM, n_head=HEADS, n_layer=1, vocab_size=5, n_positions=4)
    torch.manual_seed(0)
    model = GPT2Model(config).eval()
    model.h[0].attn.c_attn.bias.data.normal_()
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    x = tokens(torch.float32)
    theirs = model.h[0].attn.c_attn(x).detach().split(DIM, dim=-1)
    ours = attend(x, encoding_for("none"), read_projections(tmp_path))
    for mine, other in zip((ours.q, ours.k, ours.v), theirs, strict=True):
        torch.testing.assert_close(mine.transpose(0, 1).flatten(1), other, rtol=0, atol=1e-5)


def test_a_model_without_the_layer_is_refused(tmp_path) -> None:
    with pytest.raises(CheckpointError, match="can't be read"):
        read_projections(tmp_path)
    save_file({"x": torch.zeros(1)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"num_attention_heads": 2}')
    with pytest.raises(CheckpointError, match="no attention layer 3"):
        read_projections(tmp_path, layer=3)
