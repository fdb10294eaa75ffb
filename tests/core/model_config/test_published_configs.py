"""Models of 2024 to 2026, layer by layer, at the numbers that their config.json files give.

Which layers rotate, look through a window, and turn by which base over how many dimensions is
spelled out here, from the models' files and reports; transformers' own rotary modules, made of
the same files, give all frequencies.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import posembed_core as pc
from posembed_core.model_config.model_types import part_of
from tests.core.model_config.test_positions import oracle

transformers.logging.set_verbosity_error()


@dataclass(frozen=True)
class Published:
    """A model's file, without what position doesn't read, and what its layers do.

    ``layers`` has a letter for each: r turns, s turns by scaled frequencies, n doesn't turn; a
    capital one looks through a window or a chunk. ``turns`` are (base, dimensions) by letter.
    """

    repository: str  # on huggingface.co; the fields are those of its config.json
    config: dict[str, Any]
    layers: str
    turns: dict[str, tuple[float, int]]
    window: int | None = None
    code: str = ""  # the type whose code transformers has for it, if its own name isn't known there


def llama3(factor: float, low: float = 1.0, high: float = 4.0) -> dict[str, Any]:
    return {
        "rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": high,
        "original_max_position_embeddings": 8192,
    }  # fmt: skip


def sizes(hidden: int, heads: int, layers: int, head: int | None = None) -> dict[str, Any]:
    given = {
        "hidden_size": hidden, "num_attention_heads": heads, "num_hidden_layers": layers,
        "num_key_value_heads": heads,
    }  # fmt: skip
    return given if head is None else {**given, "head_dim": head}


LINEAR8 = {"factor": 8.0, "rope_type": "linear"}
EVERY_FOURTH = (["sliding_attention"] * 3 + ["full_attention"]) * 16
MODELS = [
    Published(
        "HuggingFaceTB/SmolLM3-3B",
        {"model_type": "smollm3", **sizes(2048, 16, 36), "max_position_embeddings": 65536,
         "rope_theta": 5e6, "rope_scaling": None, "no_rope_layers": [1, 1, 1, 0] * 9},
        "rrrn" * 9, {"r": (5e6, 128)},
    ),
    Published(
        "meta-llama/Llama-4-Scout-17B-16E",
        {"model_type": "llama4", "text_config": {
            "model_type": "llama4_text", **sizes(5120, 40, 48, 128), "rope_theta": 5e5,
            "max_position_embeddings": 10485760, "attention_chunk_size": 8192,
            "no_rope_layers": [], "rope_scaling": llama3(16.0, 1.0, 1.0)}},
        "SSSn" * 12, {"S": (5e5, 128)}, window=8192,
    ),
    Published(
        "meta-llama/Llama-4-Maverick-17B-128E",
        {"model_type": "llama4", "text_config": {
            "model_type": "llama4_text", **sizes(5120, 40, 48, 128), "rope_theta": 5e5,
            "max_position_embeddings": 1048576, "attention_chunk_size": 8192,
            "no_rope_layers": [], "rope_scaling": None}},
        "RRRn" * 12, {"R": (5e5, 128)}, window=8192,
    ),
    Published(
        "meta-llama/Llama-3.3-70B-Instruct",
        {"model_type": "llama", **sizes(8192, 64, 80), "max_position_embeddings": 131072,
         "rope_theta": 5e5, "rope_scaling": llama3(8.0)},
        "s" * 80, {"s": (5e5, 128)},
    ),
    Published(
        "google/gemma-2-9b",
        {"model_type": "gemma2", **sizes(3584, 16, 42, 256), "max_position_embeddings": 8192,
         "rope_theta": 1e4, "sliding_window": 4096},
        "Rr" * 21, {"R": (1e4, 256), "r": (1e4, 256)}, window=4096,
    ),
    Published(
        "google/gemma-3-4b-pt",
        {"model_type": "gemma3", "text_config": {
            "model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
            "rope_scaling": LINEAR8, "sliding_window": 1024}},
        ("RRRRRs" * 6)[:34], {"R": (1e4, 256), "s": (1e6, 256)}, window=1024,
    ),
    Published(
        "google/gemma-3-27b-pt",
        {"model_type": "gemma3", "text_config": {
            "model_type": "gemma3_text", **sizes(5376, 32, 62, 128), "rope_scaling": LINEAR8,
            "sliding_window": 1024}},
        ("RRRRRs" * 11)[:62], {"R": (1e4, 128), "s": (1e6, 128)}, window=1024,
    ),
    Published(
        "openai/gpt-oss-120b",
        {"model_type": "gpt_oss", **sizes(2880, 64, 36, 64), "max_position_embeddings": 131072,
         "rope_theta": 150000, "sliding_window": 128,
         "layer_types": ["sliding_attention", "full_attention"] * 18,
         "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                          "original_max_position_embeddings": 4096, "truncate": False}},
        "Ss" * 18, {"S": (150000, 64), "s": (150000, 64)}, window=128,
    ),
    Published(
        "allenai/Olmo-3-1025-7B",
        {"model_type": "olmo3", **sizes(4096, 32, 32), "max_position_embeddings": 65536,
         "rope_theta": 5e5, "sliding_window": 4096, "layer_types": EVERY_FOURTH[:32],
         "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0,
                          "attention_factor": 1.2079441541679836,
                          "original_max_position_embeddings": 8192}},
        "RRRs" * 8, {"R": (5e5, 128), "s": (5e5, 128)}, window=4096,
    ),
    Published(
        "Qwen/Qwen3-8B",
        {"model_type": "qwen3", **sizes(4096, 32, 36, 128), "max_position_embeddings": 40960,
         "rope_theta": 1000000, "rope_scaling": None, "use_sliding_window": False,
         "sliding_window": None},
        "r" * 36, {"r": (1e6, 128)},
    ),
    Published(
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        {"model_type": "qwen3_next", **sizes(2048, 16, 48, 256), "full_attention_interval": 4,
         "max_position_embeddings": 262144, "rope_theta": 10000000, "rope_scaling": None,
         "partial_rotary_factor": 0.25},
        "nnnr" * 12, {"r": (1e7, 64)},
    ),
    Published(
        "Qwen/Qwen2.5-VL-7B-Instruct",
        {"model_type": "qwen2_5_vl", **sizes(3584, 28, 28), "max_position_embeddings": 128000,
         "rope_theta": 1e6, "sliding_window": 32768, "use_sliding_window": False,
         "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
         "vision_config": {"depth": 32, "hidden_size": 1280, "num_heads": 16}},
        "r" * 28, {"r": (1e6, 128)},
    ),
    Published(
        "Qwen/Qwen3-VL-8B-Instruct",
        {"model_type": "qwen3_vl", "text_config": {
            "model_type": "qwen3_vl_text", **sizes(4096, 32, 36, 128), "rope_theta": 5000000,
            "max_position_embeddings": 262144, "rope_scaling": {
                "rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True}}},
        "r" * 36, {"r": (5e6, 128)},
    ),
    Published(
        "deepseek-ai/DeepSeek-V3",
        {"model_type": "deepseek_v3", **sizes(7168, 128, 61), "qk_rope_head_dim": 64,
         "qk_nope_head_dim": 128, "max_position_embeddings": 163840, "rope_theta": 10000,
         "rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1,
                          "mscale": 1.0, "mscale_all_dim": 1.0,
                          "original_max_position_embeddings": 4096}},
        "s" * 61, {"s": (1e4, 64)},
    ),
    Published(
        "moonshotai/Kimi-K2-Instruct",
        {"model_type": "kimi_k2", **sizes(7168, 64, 61), "qk_rope_head_dim": 64,
         "qk_nope_head_dim": 128, "max_position_embeddings": 131072, "rope_theta": 50000.0,
         "rope_scaling": {"type": "yarn", "factor": 32.0, "beta_fast": 1.0, "beta_slow": 1.0,
                          "mscale": 1.0, "mscale_all_dim": 1.0,
                          "original_max_position_embeddings": 4096}},
        "s" * 61, {"s": (5e4, 64)}, code="deepseek_v3",
    ),
    Published(
        "CohereLabs/c4ai-command-r7b-12-2024",
        {"model_type": "cohere2", **sizes(4096, 32, 32, 128), "max_position_embeddings": 132096,
         "rope_theta": 50000, "sliding_window": 4096, "sliding_window_pattern": 4},
        "RRRn" * 8, {"R": (5e4, 128)}, window=4096,
    ),
    Published(
        "LGAI-EXAONE/EXAONE-4.0-32B",
        {"model_type": "exaone4", **sizes(5120, 40, 64, 128), "max_position_embeddings": 131072,
         "rope_theta": 1000000, "rope_scaling": llama3(16.0), "sliding_window": 4096,
         "sliding_window_pattern": "LLLG", "layer_types": EVERY_FOURTH},
        "SSSn" * 16, {"S": (1e6, 128)}, window=4096,
    ),
    Published(
        "LGAI-EXAONE/EXAONE-4.0-1.2B",
        {"model_type": "exaone4", **sizes(2048, 32, 30, 64), "max_position_embeddings": 65536,
         "rope_theta": 1000000, "rope_scaling": llama3(16.0), "sliding_window": None,
         "layer_types": ["full_attention"] * 30},
        "s" * 30, {"s": (1e6, 64)},
    ),
    Published(
        "mistralai/Mistral-Small-3.1-24B-Base-2503",
        {"model_type": "mistral3", "text_config": {
            "model_type": "mistral", **sizes(5120, 32, 40, 128), "rope_theta": 1e9,
            "max_position_embeddings": 131072, "sliding_window": None}},
        "r" * 40, {"r": (1e9, 128)},
    ),
    Published(
        "mistralai/Ministral-3-8B-Base-2512",
        {"model_type": "mistral3", "text_config": {
            "model_type": "ministral3", **sizes(4096, 32, 34, 128), "sliding_window": None,
            "max_position_embeddings": 262144, "rope_parameters": {
                "type": "yarn", "rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0,
                "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 16384}}},
        "s" * 34, {"s": (1e6, 128)},
    ),
    Published(
        "microsoft/phi-4",
        {"model_type": "phi3", **sizes(5120, 40, 40), "max_position_embeddings": 16384,
         "original_max_position_embeddings": 16384, "rope_theta": 250000, "rope_scaling": None,
         "sliding_window": None},
        "r" * 40, {"r": (250000, 128)},
    ),
    Published(
        "zai-org/GLM-4-9B-0414",
        {"model_type": "glm4", **sizes(4096, 32, 40, 128), "max_position_embeddings": 32768,
         "partial_rotary_factor": 0.5, "rope_theta": 10000.0},
        "r" * 40, {"r": (1e4, 64)},
    ),
    Published(
        "zai-org/GLM-4.5-Air",
        {"model_type": "glm4_moe", **sizes(4096, 96, 46, 128), "max_position_embeddings": 131072,
         "partial_rotary_factor": 0.5, "rope_theta": 1000000, "rope_scaling": None},
        "r" * 46, {"r": (1e6, 64)},
    ),
    Published(
        "ibm-granite/granite-4.0-h-small",
        {"model_type": "granitemoehybrid", **sizes(4096, 32, 40), "rope_theta": 10000,
         "position_embedding_type": "nope", "max_position_embeddings": 131072},
        "n" * 40, {},
    ),
    Published(
        "answerdotai/ModernBERT-base",
        {"model_type": "modernbert", **sizes(768, 12, 22), "global_rope_theta": 160000.0,
         "local_rope_theta": 10000.0, "local_attention": 128, "global_attn_every_n_layers": 3,
         "max_position_embeddings": 8192},
        ("rRR" * 8)[:22], {"r": (160000, 64), "R": (1e4, 64)}, window=128,
    ),
    Published(
        "swiss-ai/Apertus-8B-2509",
        {"model_type": "apertus", **sizes(4096, 32, 32), "max_position_embeddings": 65536,
         "rope_theta": 12000000, "rope_scaling": llama3(8.0)},
        "s" * 32, {"s": (1.2e7, 128)},
    ),
    Published(
        "ByteDance-Seed/Seed-OSS-36B-Base",
        {"model_type": "seed_oss", **sizes(5120, 80, 64, 128), "max_position_embeddings": 524288,
         "rope_theta": 10000000.0, "rope_scaling": {"rope_type": "default"}},
        "r" * 64, {"r": (1e7, 128)},
    ),
    Published(
        "MiniMaxAI/MiniMax-M2",
        {"model_type": "minimax_m2", **sizes(3072, 48, 62, 128), "rotary_dim": 64,
         "max_position_embeddings": 196608, "rope_theta": 5000000},
        "r" * 62, {"r": (5e6, 64)},
    ),
    Published(
        "LiquidAI/LFM2-1.2B",
        {"model_type": "lfm2", **sizes(2048, 32, 16), "max_position_embeddings": 128000,
         "rope_theta": 1000000.0, "full_attn_idxs": [2, 5, 8, 10, 12, 14]},
        "nnrnnrnnrnrnrnrn", {"r": (1e6, 64)},
    ),
]  # fmt: skip


def letter(layer: pc.LayerPositions) -> str:
    if not isinstance(layer.encoding, pc.RotaryEncoding):
        return "n"
    turned = "r" if layer.encoding.slug == "rope" else "s"
    return turned.upper() if layer.window else turned


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.repository.partition("/")[2])
def test_every_layer_of_a_published_model(model: Published) -> None:
    read = pc.positions_from_config(model.config)
    assert read.known == "type"
    assert not [finding for finding in read.findings if finding.severity == "error"]
    assert "".join(map(letter, read.layers)) == model.layers
    assert {layer.window for layer in read.layers} <= {None, model.window}
    turning = [layer for layer in read.layers if isinstance(layer.encoding, pc.RotaryEncoding)]
    for layer in turning:
        assert (layer.encoding.base, layer.encoding.rotary_dim) == model.turns[letter(layer)]
    if not turning:
        return
    name = model.code or model.config["model_type"]
    config = CONFIG_MAPPING[name].from_dict({**copy.deepcopy(model.config), "model_type": name})
    if part := part_of(name):
        config = getattr(config, part[0])
    frequencies = oracle(config.model_type, config)
    for layer in turning:
        expected = frequencies[layer.kind if layer.kind in frequencies else ""]
        np.testing.assert_allclose(layer.encoding.inv_freq().numpy(), expected, rtol=2e-6)
