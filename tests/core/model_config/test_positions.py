"""Where position enters a model, held against transformers' own modules for every type."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import posembed_core as pc
from docs.model_types import FILE, describe, modelling
from posembed_core.model_config.model_types import model_type

TYPES: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
ROTARY = sorted(name for name, entry in TYPES.items() if "pairs" in entry)
# One of each way to write it: CI asks these, `make test-models` all.
SAMPLE = [
    "llama", "gemma2", "gemma3_text", "gemma4_text", "qwen3", "qwen3_next", "gptj", "gpt_neox",
    "cohere2", "deepseek_v3", "dbrx", "falcon", "glm4", "glm4v_text", "jetmoe", "llama4_text",
    "mimo_v2_flash", "mistral4", "modernbert", "olmo3", "phi3", "smollm3", "stablelm", "bamba",
]  # fmt: skip
# Default configs whose rotation can't be told from transformers' module alone, and why.
EXCEPT = {
    "efficientloftr": "a share of 4 of the head: its four quarters turn along two axes",
    "ernie4_5_vl_moe_text": "its module sorts the frequencies for three axes",
    "glm4_moe": "96 heads don't divide a width of 4096, so no head has a size",
    "glm4v_moe_text": "96 heads don't divide a width of 4096, so no head has a size",
    "qwen3_omni_moe_text": "28 heads don't divide a width of 2048, so no head has a size",
    "musicflamingo": "turns by seconds, not by positions",
    "zamba2": "rotates only with use_mem_rope, which is off by default",
    "esm": "has a learned table by default",
    "granitemoehybrid": "has no positions by default",
    "deepseek_v4": "its module holds two rotations, asked for below",
    "beam": "its full-attention layers have none",
    "blt": "several models of bytes and patches; each is a type of its own",
    "dia": "an encoder and a decoder; each is a type of its own",
    "nemotron3_diarization": "an encoder of sound; it is a type of its own",
    "deepseek_ocr2_vision": "two encoders of pictures; each is a type of its own",
    "minimax_m3_vl_text": "its class gives rotary_dim = 64, which its module doesn't read",
    "cohere_compass_text": "transformers has no base for it",
}
transformers.logging.set_verbosity_error()


def oracle(name: str, config: Any = None) -> dict[str, np.ndarray]:
    """{kind of layer: frequencies} of the type's own rotary modules, by default for its default."""
    cls, module = CONFIG_MAPPING[name], modelling(name)[0]
    config = cls() if config is None else config
    model = cls.__name__.removesuffix("Config").removesuffix("Text")  # Qwen2-VL takes the whole
    for wanted in (cls.__name__, model):
        own: dict[str, np.ndarray] = {}
        for part in vars(module).values():
            if not (isinstance(part, type) and "Rotary" in part.__name__):
                continue
            takes = str(part.__init__.__annotations__.get("config", ""))
            if wanted not in takes or "Vision" in part.__name__ + takes:
                continue
            for buffer, values in part(config).named_buffers():
                kind = buffer.removesuffix("inv_freq").removesuffix("_")
                if "original" not in kind and buffer.endswith("inv_freq"):
                    own[kind] = values.double().numpy()
        if own:
            return own
    return {}


def check(name: str) -> None:
    """Our layers have the frequencies of transformers' modules, at the config as it is saved."""
    saved = CONFIG_MAPPING[name]().to_dict()
    model = pc.positions_from_config(saved)
    assert model.known == "type"
    frequencies = oracle(name)
    turning = [layer for layer in model.layers if layer.encoding is not None]
    assert turning
    for layer in turning:
        expected = frequencies.get(layer.kind, frequencies.get(""))
        if expected is None:
            continue
        assert isinstance(layer.encoding, pc.RotaryEncoding)
        np.testing.assert_allclose(layer.encoding.inv_freq().numpy(), expected, rtol=2e-6)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_type_turns_as_its_own_module(name: str) -> None:
    check(name)


@pytest.mark.models
@pytest.mark.parametrize("name", [name for name in ROTARY if name not in EXCEPT])
def test_every_type_turns_as_its_own_module(name: str) -> None:
    check(name)


def test_no_type_without_a_rotation_gets_one() -> None:
    for name, entry in TYPES.items():
        if "part" in entry or "pairs" in entry or name == "roformer":  # by another module
            continue
        model = pc.positions_from_config({"model_type": name, "num_hidden_layers": 2})
        assert model.known == "type", name
        for layer in model.layers:
            assert not isinstance(layer.encoding, pc.RotaryEncoding), name
        with pytest.raises(pc.EncodingError, match="no RoPE"):
            pc.rotary_from_config({"model_type": name, "head_dim": 64, "rope_theta": 1e4})


@pytest.mark.parametrize("name", SAMPLE[:4])
def test_the_table_of_types_is_what_transformers_says(name: str) -> None:
    assert describe(name) == TYPES[name]


@pytest.mark.models
def test_the_whole_table_of_types_is_what_transformers_says() -> None:
    read = {name: describe(name) for name in CONFIG_MAPPING}
    assert {name: entry for name, entry in read.items() if entry is not None} == TYPES


# What is known, and how

GPT2 = {"model_type": "gpt2", "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}


def test_nothing_is_made_up_for_a_model_that_nobody_knows() -> None:
    unknown = pc.positions_from_config({"model_type": "my-own", "hidden_size": 64})
    assert unknown.known == "unknown"
    assert [layer.encoding for layer in unknown.layers] == [None]
    assert "isn't known here" in unknown.has
    by_config = pc.positions_from_config(
        {"model_type": "my-own", "head_dim": 64, "rope_theta": 5e5, "num_hidden_layers": 3}
    )
    assert by_config.known == "config"
    assert [layer.encoding.base for layer in by_config.layers] == [5e5] * 3
    assert "assumption" in by_config.findings[0].reason


def test_what_other_models_have_is_named() -> None:
    table = pc.positions_from_config(GPT2)
    assert table.input is not None
    assert (table.input.kind, table.input.rows, table.input.dimensions) == ("learned", 1024, 768)
    assert [layer.encoding for layer in table.layers] == [None] * 12
    bloom = pc.positions_from_config({"model_type": "bloom", "n_head": 16, "n_layer": 2})
    assert [layer.encoding.slug for layer in bloom.layers] == ["alibi"] * 2
    assert bloom.input is None
    t5 = pc.positions_from_config({"model_type": "t5", "num_heads": 8, "num_layers": 2})
    assert {layer.encoding.slug for layer in t5.layers} == {"t5"}
    for name in ("nemotron_h", "jamba", "kimi_linear"):
        assert "nothing" in pc.positions_from_config({"model_type": name}).has
    assert "two axes" in pc.positions_from_config({"model_type": "dinov3_vit"}).has
    assert "Swin" in pc.positions_from_config({"model_type": "swin"}).has
    assert "relative" in pc.positions_from_config({"model_type": "deberta-v2"}).has


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "smollm3", "num_hidden_layers": 8}, "rrrnrrrn"),
        ({"model_type": "smollm3", "num_hidden_layers": 4, "no_rope_layers": [0, 1, 0, 1]}, "nrnr"),
        ({"model_type": "llama4_text", "num_hidden_layers": 8}, "rrrnrrrn"),
        ({"model_type": "cohere2", "num_hidden_layers": 8}, "rrrnrrrn"),
        ({"model_type": "exaone4", "num_hidden_layers": 4, "sliding_window": None}, "rrrr"),
        ({"model_type": "llama", "num_hidden_layers": 3}, "rrr"),
    ],
)
def test_each_layer_turns_or_not(config: dict[str, Any], expected: str) -> None:
    layers = pc.positions_from_config(config).layers
    assert "".join("r" if layer.encoding else "n" for layer in layers) == expected
    assert [layer.index for layer in layers] == list(range(len(expected)))
    assert all(layer.why for layer in layers)


def test_layers_with_a_window_have_a_base_of_their_own() -> None:
    gemma = pc.positions_from_config({"model_type": "gemma3_text", "num_hidden_layers": 6})
    assert [layer.encoding.base for layer in gemma.layers] == [1e4] * 5 + [1e6]
    assert [layer.window for layer in gemma.layers] == [4096] * 5 + [None]
    step = {
        "model_type": "step3p5", "head_dim": 128, "num_hidden_layers": 4,
        "layer_types": ["full_attention", "sliding_attention"] * 2,
        "rope_theta": [5e6, 1e4, 5e6, 1e4], "partial_rotary_factors": [0.5, 1.0, 0.5, 1.0],
    }  # fmt: skip
    layers = pc.positions_from_config(step).layers
    assert [(layer.encoding.base, layer.encoding.rotary_dim) for layer in layers] == [
        (5e6, 64), (1e4, 128), (5e6, 64), (1e4, 128),
    ]  # fmt: skip


# What stands beside the rotation


def test_queries_are_scaled_as_in_transformers() -> None:
    from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

    block = {
        "type": "yarn", "rope_theta": 1e6, "factor": 16.0,
        "original_max_position_embeddings": 16384, "llama_4_scaling_beta": 0.1,
    }  # fmt: skip
    model = pc.positions_from_config(
        {"model_type": "ministral3", "head_dim": 128, "rope_parameters": block}
    )
    positions = torch.tensor([[0, 16383, 16384, 200_000]])
    expected = get_llama_4_attn_scale(positions, 0.1, 16384)[0, 0, :, 0]
    ours = [model.layers[0].query_scale(position) for position in positions[0].tolist()]
    np.testing.assert_allclose(ours, expected, rtol=1e-6)
    llama = pc.positions_from_config({"model_type": "llama4_text", "num_hidden_layers": 4})
    assert [layer.query_scale(8191) for layer in llama.layers] == [1, 1, 1, 1 + 0.1 * math.log(2)]
    assert llama.layers[3].query_scale(8190) == 1


def test_deepseeks_scores_have_a_factor_of_their_own() -> None:
    block = {
        "type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
    }  # fmt: skip
    for name in ("deepseek_v3", "kimi_k2"):
        config = {"model_type": name, "qk_rope_head_dim": 64, "rope_scaling": block}
        layer = pc.positions_from_config(config).layers[0]
        assert layer.score_scale == pytest.approx((0.1 * math.log(40) + 1) ** 2)
        assert layer.encoding.pairing == "interleaved"
    llama = {"model_type": "llama", "rope_scaling": block, "max_position_embeddings": 163840}
    assert pc.positions_from_config(llama).layers[0].score_scale == 1


def test_every_type_named_by_hand_is_known() -> None:
    for name in ("kimi_k2", "chatglm", "qwen", "baichuan", "stablelm_epoch", "roformer"):
        assert model_type(name) is not None
