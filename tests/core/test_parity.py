"""Parity with independent implementations: one test for each entry of the evidence."""

from __future__ import annotations

import importlib.metadata
import warnings
from typing import Any

import pytest
import torch
from positional_encodings.torch_encodings import PositionalEncoding1D
from rotary_embedding_torch import RotaryEmbedding as RotaryEmbeddingTorch
from transformers import BertModel, DebertaV2Config, GPT2Config, GPT2Model, LlamaConfig, T5Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.deberta_v2 import modeling_deberta_v2 as deberta_v2
from transformers.models.llama import modeling_llama as llama
from transformers.models.t5.modeling_t5 import T5Attention

import posembed_core as pc
from posembed_core.attention.layer import attend
from posembed_core.evidence import PARITY
from posembed_core.tokens.projections import read_projections
from posembed_core.tokens.sentence_model import load_model, model_folder

with warnings.catch_warnings():
    # It compiles with torch.jit when imported, which torch 2.13 deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from x_transformers.x_transformers import AlibiPositionalBias, RotaryEmbedding
    from x_transformers.x_transformers import apply_rotary_pos_emb as x_apply_rotary

BY_ID = {parity.id: parity for parity in PARITY}


def seeded(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def agree(name: str, ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours.double(), theirs.double(), rtol=0, atol=BY_ID[name].tolerance)


def test_every_entry_has_a_test() -> None:
    expected = {f"test_{name.replace('-', '_')}" for name in BY_ID}
    assert expected <= set(globals())


@pytest.mark.parametrize("name", BY_ID)
def test_the_version_that_is_named_is_the_one_installed(name: str) -> None:
    parity = BY_ID[name]
    assert importlib.metadata.version(parity.package) == parity.version


def test_positional_encodings_sinusoidal() -> None:
    for dim in (2, 8, 64, 100):
        ours = pc.create("sinusoidal", embed_dim=dim).table(range(40))
        theirs = PositionalEncoding1D(dim)(torch.zeros(1, 40, dim))[0]
        agree("positional-encodings-sinusoidal", ours, theirs)


def test_transformers_gpt2_learned() -> None:
    model = GPT2Model(GPT2Config(n_layer=1, n_head=1, n_embd=12, n_positions=20, vocab_size=5))
    encoding = pc.create("learned", max_seq_len=20, embed_dim=12)
    model.wpe.weight.data = encoding.table(range(20))
    positions = torch.tensor([3, 0, 19])
    agree("transformers-gpt2-learned", encoding.table(positions), model.wpe(positions).detach())


def llama_config(**rope: Any) -> LlamaConfig:
    return LlamaConfig(
        hidden_size=64,
        num_attention_heads=1,
        head_dim=64,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, **rope},
    )


def test_transformers_llama_rope() -> None:
    positions = torch.tensor([[0, 1, 17, 300]])
    q, k = seeded(1, 2, 4, 64), seeded(1, 2, 4, 64, seed=1)
    cos, sin = llama.LlamaRotaryEmbedding(llama_config())(q, positions)
    theirs = llama.apply_rotary_pos_emb(q, k, cos, sin)
    rope = pc.create("rope", head_dim=64, pairing="half")
    for x, turned in zip((q, k), theirs, strict=True):
        agree("transformers-llama-rope", rope.rotate(x, positions[0]), turned)


def test_rotary_embedding_torch_rope() -> None:
    theirs = RotaryEmbeddingTorch(dim=32).rotate_queries_or_keys(seeded(1, 2, 50, 64))
    rope = pc.create("rope", head_dim=64, rotary_fraction=0.5, pairing="interleaved")
    ours = rope.rotate(seeded(1, 2, 50, 64), range(50))
    agree("rotary-embedding-torch-rope", ours, theirs.detach())


SCALINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "rope-linear": ("linear", {"factor": 4.0}),
    "rope-dynamic": ("dynamic", {"factor": 2.0, "original_max_position_embeddings": 4096}),
    "rope-yarn": ("yarn", {"factor": 4.0, "original_max_position_embeddings": 2048}),
    "rope-llama3": (
        "llama3",
        {
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 2048,
        },
    ),
    "rope-longrope": (
        "longrope",
        {
            "factor": 8.0,
            "short_factor": [1.0 + index / 32 for index in range(32)],
            "long_factor": [1.0 + index for index in range(32)],
            "original_max_position_embeddings": 2048,
        },
    ),
}


def test_transformers_rope_scalings() -> None:
    assert set(SCALINGS) == set(BY_ID["transformers-rope-scalings"].slugs)
    for slug, (rope_type, settings) in SCALINGS.items():
        ours = pc.create(slug, head_dim=64, **settings)
        for length in (1024, 4096, 6000):
            config = llama_config(rope_type=rope_type, **settings)
            theirs, factor = ROPE_INIT_FUNCTIONS[rope_type](config, "cpu", seq_len=length)
            inv_freq = ours.inv_freq(length)
            agree("transformers-rope-scalings", inv_freq / theirs.double(), torch.ones(32))
            assert ours.attention_factor(length) == pytest.approx(factor, abs=1e-9), slug


def test_x_transformers_alibi() -> None:
    for heads in range(1, 34):
        ours = pc.create("alibi", num_heads=heads).bias(range(20), range(20))
        theirs = AlibiPositionalBias(heads)(20, 20)
        agree("x-transformers-alibi", ours, theirs)


def test_x_transformers_xpos() -> None:
    n = 64
    q, k = seeded(1, n, 16), seeded(1, n, 16, seed=1)
    freqs, scale = RotaryEmbedding(16, use_xpos=True)(torch.arange(n))
    theirs = x_apply_rotary(q, freqs, scale) @ x_apply_rotary(k, freqs, scale**-1).mT
    xpos = pc.create("xpos", head_dim=16, pairing="interleaved")
    agree("x-transformers-xpos", xpos.scores(q, k, range(n), range(n)), theirs)


def test_transformers_t5() -> None:
    relative = torch.arange(-1000, 1001)
    for bidirectional in (True, False):
        encoding = pc.create("t5", bidirectional=bidirectional)
        theirs = T5Attention._relative_position_bucket(relative, bidirectional, 32, 128)
        agree("transformers-t5", encoding.buckets([0], relative)[0], theirs)
        config = T5Config(num_heads=8, is_decoder=not bidirectional)
        layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        layer.relative_attention_bias.weight.data = encoding.weight
        bias = layer.compute_bias(30, 40)[0].detach()
        agree("transformers-t5", encoding.bias(range(30), range(40)), bias)


@pytest.mark.parametrize("log", [False, True])
def test_transformers_deberta(*, log: bool) -> None:
    n, width = 50, 8
    encoding = pc.create(
        "deberta",
        head_dim=width,
        distances="log" if log else "clipped",
        position_buckets=16,
        max_relative_positions=40 if log else 20,
    )
    config = DebertaV2Config(
        hidden_size=width,
        num_attention_heads=1,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=16 if log else -1,
        max_relative_positions=40 if log else 20,
    )
    layer = deberta_v2.DisentangledSelfAttention(config).eval()
    # Identity instead of projections, so that the layer takes our projected tables as they are.
    for projection, table in zip(
        (layer.pos_key_proj, layer.pos_query_proj), encoding.tables, strict=True
    ):
        projection.weight.data = table.T.contiguous()
        projection.bias.data.zero_()
    rows = torch.eye(2 * encoding.span)
    q, k = seeded(1, n, width), seeded(1, n, width, seed=1)
    layer.pos_key_proj.in_features = layer.pos_query_proj.in_features = len(rows)
    theirs = layer.disentangled_attention_bias(q, k, None, rows, scale_factor=3).detach()
    ours = encoding.relative_scores(q, k, range(n), range(n))
    agree("transformers-deberta", ours * encoding.softmax_scale(width), theirs)


def test_transformers_bert_first_layer() -> None:
    folder = model_folder()
    assert folder is not None, "requirements-model.txt is not installed"
    ours = load_model(folder)
    sentence = ours.tokenize("The keys to the cabinet are on the table.")
    attention = attend(
        ours.embed(sentence),
        ours.positions,
        read_projections(folder),
        layer_norm=ours.layer_norm,
    )
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager")
    seen = theirs(torch.tensor([sentence.ids]), output_attentions=True).attentions[0][0]
    assert seen.shape == (12, 12, 12)
    agree("transformers-bert-first-layer", attention.weights, seen.detach())
