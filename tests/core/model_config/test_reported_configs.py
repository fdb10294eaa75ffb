"""Configs that were answered wrongly on 30 November 2026, each with its right values."""

from __future__ import annotations

from typing import Any

import pytest

import posembed_core as pc
from posembed_core.model_config import read_rope

YARN = {"type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096, "mscale": 1.0,
        "mscale_all_dim": 1.0}  # fmt: skip


def last(dimensions: int, base: float) -> float:
    """The frequency of the slowest pair, in closed form."""
    return float(base ** -((dimensions - 2) / dimensions))


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "kimi_linear", "qk_rope_head_dim": 64, "mla_use_nope": True},
        {"model_type": "granitemoehybrid", "hidden_size": 768, "num_attention_heads": 12,
         "position_embedding_type": "nope"},
        {"model_type": "bert", "hidden_size": 768, "num_attention_heads": 12,
         "max_position_embeddings": 512, "position_embedding_type": "absolute"},
        {"model_type": "falcon", "alibi": True, "hidden_size": 2048, "num_attention_heads": 32},
        {"model_type": "nemotron_h", "head_dim": 128, "hidden_size": 2688,
         "num_attention_heads": 32},
    ],
    ids=lambda config: config["model_type"],
)  # fmt: skip
def test_models_without_rope_say_so(config: dict[str, Any]) -> None:
    (finding,) = read_rope(config).findings
    assert finding.severity == "error"
    assert "this model has no RoPE: it has" in finding.message


def test_layers_differ_as_their_type_says() -> None:
    olmo = {
        "model_type": "olmo3", "head_dim": 128, "rope_theta": 5e5, "sliding_window": 4096,
        "max_position_embeddings": 65536, "layer_types": ["sliding_attention", "full_attention"],
        "rope_scaling": {"rope_type": "yarn", "factor": 8.0,
                         "original_max_position_embeddings": 8192},
    }  # fmt: skip
    sliding, full = pc.positions_from_config(olmo).layers
    assert sliding.encoding.inv_freq()[-1].item() == pytest.approx(last(128, 5e5))
    assert full.encoding.inv_freq()[-1].item() == pytest.approx(3.069e-07, rel=1e-3)
    assert (sliding.window, full.window) == (4096, None)
    mimo = {"model_type": "mimo_v2_flash", "head_dim": 192, "partial_rotary_factor": 0.334,
            "rope_theta": 5e6, "swa_rope_theta": 1e4}  # fmt: skip
    assert [setting.encoding.base for setting in read_rope(mimo).settings] == [5e6, 1e4]
    beam = {"head_dim": 128, "rope_parameters": {
        "full_attention": None,
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}  # fmt: skip
    with pytest.raises(pc.EncodingError, match="full_attention have no RoPE"):
        pc.rotary_from_config(beam)
    compressed = {
        "model_type": "deepseek_v4", "head_dim": 512, "qk_rope_head_dim": 64, "rope_theta": 1e4,
        "compress_rope_theta": 160000, "max_position_embeddings": 1048576, "num_hidden_layers": 3,
        "layer_types": ["sliding_attention", "compressed_sparse_attention", "sliding_attention"],
        "rope_scaling": {"type": "yarn", "factor": 16, "original_max_position_embeddings": 65536},
    }  # fmt: skip
    layers = pc.positions_from_config(compressed).layers
    assert [layer.encoding.base for layer in layers] == [1e4, 160000, 1e4]
    assert [layer.encoding.attention_factor() for layer in layers] == [1, 1, 1]


@pytest.mark.parametrize(
    ("config", "slowest"),
    [
        ({"model_type": "hunyuan_v1_dense", "head_dim": 128, "rope_theta": 1e4,
          "max_position_embeddings": 262144,
          "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}},
         last(128, 1e4 * 1000 ** (128 / 126))),
        ({"model_type": "chatglm", "hidden_size": 4096, "num_attention_heads": 32,
          "kv_channels": 128, "rope_ratio": 500, "seq_length": 131072}, last(64, 5e6)),
        ({"head_dim": 128, "rope_theta": 5e5, "rope_scaling": {
            "rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.0,
            "original_max_position_embeddings": 8192}}, last(128, 5e5) / 16),
        ({"head_dim": 128, "rope_theta": 1e6, "max_position_embeddings": 32768,
          "rope_scaling": {"type": "yarn", "factor": 4.0}}, 3.10234441e-07),
        ({"head_dim": 64, "rope_theta": 160000, "rope_scaling": {"type": "ntk", "factor": 2.0}},
         last(64, 160000 * 2 ** (64 / 62))),
    ],
    ids=["HunYuan", "GLM", "Llama 4 Scout", "YaRN without a length", "NTK"],
)  # fmt: skip
def test_formulas_that_the_type_decides(config: dict[str, Any], slowest: float) -> None:
    (settings,) = read_rope(config).settings
    assert settings.encoding.inv_freq()[-1].item() == pytest.approx(slowest, rel=1e-5)
    # HunYuan's alpha is named, since other programs don't read it; so is a blend without a width.
    keys = [finding.key for finding in read_rope(config).findings]
    odd = {"alpha": ["rope_scaling.alpha"], "low_freq": ["rope_scaling.high_freq_factor"]}
    assert keys == next((key for word, key in odd.items() if word in str(config)), [])


def test_only_hunyuan_reads_its_alpha() -> None:
    config = {
        "model_type": "llama", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 4096,
        "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 2.0},
    }  # fmt: skip
    (settings,) = read_rope(config).settings
    assert settings.encoding == pc.rotary_from_config(
        {**config, "rope_scaling": {"type": "dynamic", "factor": 2.0}}
    )
    assert "is ignored by type 'dynamic'" in read_rope(config).findings[0].message


def test_phi_35_moe_multiplies_cosines_and_sines() -> None:
    factors = {"short_factor": [1.0] * 16, "long_factor": [1.0] * 16}
    config = {
        "model_type": "phimoe", "head_dim": 32, "max_position_embeddings": 131072,
        "rope_scaling": {"type": "longrope", **factors, "short_mscale": 1.243163121016122,
                         "long_mscale": 1.243163121016122,
                         "original_max_position_embeddings": 4096},
    }  # fmt: skip
    (settings,) = read_rope(config).settings
    assert settings.encoding.attention_factor() == 1.243163121016122


@pytest.mark.parametrize(
    "name",
    ["kimi_k2", "deepseek_v3", "deepseek_v32", "longcat_flash", "glm4_moe_lite", "glm4v_text",
     "roformer", "chatglm"],
)  # fmt: skip
def test_neighbours_form_pairs(name: str) -> None:
    config = {"model_type": name, "head_dim": 64, "hidden_size": 512, "num_attention_heads": 8}
    assert read_rope(config).settings[0].encoding.pairing == "interleaved"


@pytest.mark.parametrize(
    ("config", "rotated"),
    [
        ({"model_type": "gemma2", "hidden_size": 2304, "num_attention_heads": 8}, 256),
        ({"model_type": "qwen3", "hidden_size": 2560, "num_attention_heads": 32}, 128),
        ({"text_config": {"model_type": "llama", "max_position_embeddings": 4096}}, 128),
        ({"model_type": "bamba", "hidden_size": 4096, "num_attention_heads": 32}, 64),
        ({"model_type": "dbrx", "d_model": 6144, "n_heads": 48,
          "attn_config": {"rope_theta": 500000}}, 128),
        ({"model_type": "stablelm_epoch", "hidden_size": 2560, "num_attention_heads": 32,
          "rope_pct": 0.25}, 20),
        ({"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 1e6}, 128),
    ],
)  # fmt: skip
def test_sizes_that_a_type_knows(config: dict[str, Any], rotated: int) -> None:
    assert read_rope(config).settings[0].encoding.rotary_dim == rotated


def test_lengths_under_other_names() -> None:
    for key in ("n_positions", "seq_length", "model_max_length", "max_seq_len"):
        (settings,) = read_rope({"head_dim": 64, "rope_theta": 1e4, key: 2048}).settings
        assert settings.trained_length == 2048
    assert read_rope({"head_dim": 64, "rope_theta": 1e4}).settings[0].trained_length is None


def test_one_number_in_two_spellings_is_no_finding() -> None:
    config = {"head_dim": 64, "rope_theta": 10000,
              "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}  # fmt: skip
    assert read_rope(config).findings == ()


def test_a_type_that_is_no_text_is_unknown() -> None:
    for name in (["llama"], {"a": 1}, 7):
        model = pc.positions_from_config({"model_type": name, "head_dim": 64, "rope_theta": 1e4})
        assert model.known == "config"
