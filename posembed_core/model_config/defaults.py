"""What a config may leave out: the defaults in the model code of transformers 5.24."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Read from transformers 5.24's configuration and modelling files; a test reads them again.
_BASES: dict[float, tuple[str, ...]] = {
    1e5: ("helium",),
    1.5e5: ("gpt_oss",),
    5e5: (
        "bitnet",
        "cohere",
        "ernie4_5",
        "ernie4_5_moe",
        "exaone",
        "flex_olmo",
        "llama4_text",
        "mllama_text_model",
        "olmo3",
        "qwen3_vl_text",
        "qwen3_vl_moe_text",
    ),
    1e6: (
        "cwm",
        "lfm2",
        "lfm2_moe",
        "minimax",
        "mixtral",
        "phimoe",
        "qwen2_vl_text",
        "qwen2_5_vl_text",
        "qwen2_5_omni_text",
        "qwen3_omni_moe_text",
        "solar_open",
    ),
    2e6: ("smollm3",),
    5e6: ("minimax_m2",),
    1e7: ("longcat_flash",),
    1.2e7: ("apertus",),
}
_TWO_BASES: dict[str, dict[str, float]] = {
    "gemma3_text": {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
    "gemma3n_text": {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
    "modernbert": {"global_rope_theta": 1.6e5, "local_rope_theta": 1e4},
    "modernbert-decoder": {"global_rope_theta": 1.6e5, "local_rope_theta": 1e4},
}
_ROTATED_PARTS: dict[float, tuple[str, ...]] = {
    0.25: ("gpt_neox", "qwen3_next", "stablelm"),
    0.5: ("glm", "glm4", "glm4_moe", "nemotron", "persimmon", "phi", "recurrent_gemma"),
}
_INTERLEAVED = (
    "codegen",
    "cohere",
    "cohere2",
    "deepseek_v2",
    "deepseek_v3",
    "ernie4_5",
    "ernie4_5_moe",
    "glm",
    "glm4",
    "gptj",
    "helium",
    "llama4_text",
    "mistral4",
)
_HEAD_DIMS = {"gemma3_text": 256, "gemma3n_text": 256, "gpt_oss": 64, "qwen3_next": 256}

DEFAULT_BASE = 10_000.0


def model_defaults(model_type: object) -> Mapping[str, Any]:
    """The keys that a config of this ``model_type`` may leave out, with transformers' values.

    Empty for a type that isn't known here, and for one whose defaults are those of Llama: base
    10,000, the whole head rotated, dimensions paired by halves.

    >>> model_defaults("gpt_neox"), model_defaults("llama")
    ({'partial_rotary_factor': 0.25}, {})
    """
    defaults: dict[str, Any] = dict(_TWO_BASES.get(str(model_type), {}))
    for base, models in _BASES.items():
        if model_type in models:
            defaults["rope_theta"] = base
    for part, models in _ROTATED_PARTS.items():
        if model_type in models:
            defaults["partial_rotary_factor"] = part
    if model_type in _INTERLEAVED:
        defaults["rope_interleave"] = True
    if str(model_type) in _HEAD_DIMS:
        defaults["head_dim"] = _HEAD_DIMS[str(model_type)]
    return defaults
