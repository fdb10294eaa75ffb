"""Well-known models' RoPE settings by name: the numbers of their config.json files, no weights."""

from __future__ import annotations

import copy
from typing import Any

# Where each entry's numbers were read; the keys are spelled as the model's config.json does.
#   Llama 2 7B        Lightning-AI/litgpt, litgpt/config.py
#   Llama 3.1 8B      zyzshishui/slime, scripts/models/llama3.1-8B.sh; meta-llama/llama-models
#   Llama 3.2 1B      kevinstephano/thunder_model_blocks, hf_llama/llama_config.py
#   Mistral 7B v0.1   sumitdotml/transformers, mistral-7b-v0.1/README.md; Lightning-AI/litgpt
#   Qwen2.5 7B        the block to add for long texts by its model card, as verl's manual quotes it
#   gpt-oss 20B       ParagEkbote/hf-model-inspector, model_inspection_report.md; transformers 5.24
#   Phi-3 mini 128k   the lists of its first release (April 2024), from torchtune's Phi-3 builders;
#                     later revisions of the model have other lists
#   Gemma 3 4B        Lightning-AI/litgpt, litgpt/config.py
#   GPT-NeoX 20B      transformers 5.24, configuration_gpt_neox.py
#   DeepSeek-V3       transformers 5.24, configuration_deepseek_v3.py
_PHI3_SHORT = (
    [1.05] * 3
    + [1.1, 1.1, 1.1500000000000001, 1.2000000000000002, 1.2500000000000002]
    + [1.3000000000000003, 1.3500000000000003, 1.5000000000000004]
    + [2.000000000000001] * 21
    + [2.0500000000000007] * 3
    + [2.1000000000000005] * 3
    + [2.1500000000000004] * 2
    + [2.3499999999999996, 2.549999999999999, 2.5999999999999988, 2.5999999999999988]
    + [2.7499999999999982, 2.849999999999998, 2.849999999999998, 2.9499999999999975]
)
# fmt: off
_PHI3_LONG = [
    1.0299999713897705, 1.0499999523162842, 1.0499999523162842, 1.0799999237060547,
    1.2299998998641968, 1.2299998998641968, 1.2999999523162842, 1.4499999284744263,
    1.5999999046325684, 1.6499998569488525, 1.8999998569488525, 2.859999895095825,
    3.68999981880188, 5.419999599456787, 5.489999771118164, 5.489999771118164,
    9.09000015258789, 11.579999923706055, 15.65999984741211, 15.769999504089355,
    15.789999961853027, 18.360000610351562, 21.989999771118164, 23.079999923706055,
    30.009998321533203, 32.35000228881836, 32.590003967285156, 35.56000518798828,
    39.95000457763672, 53.840003967285156, 56.20000457763672, 57.95000457763672,
    59.29000473022461, 59.77000427246094, 59.920005798339844, 61.190006256103516,
    61.96000671386719, 62.50000762939453, 63.3700065612793, 63.48000717163086,
    63.48000717163086, 63.66000747680664, 63.850006103515625, 64.08000946044922,
    64.760009765625, 64.80001068115234, 64.81001281738281, 64.81001281738281,
]
# fmt: on

_CONFIGS: dict[str, dict[str, Any]] = {
    "Llama 2 7B": {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "max_position_embeddings": 4096,
        "rope_theta": 10000.0,
        "rope_scaling": None,
    },
    "Llama 3.1 8B": {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "max_position_embeddings": 131072,
        "rope_theta": 500000.0,
        "rope_scaling": {
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
            "rope_type": "llama3",
        },
    },
    "Llama 3.2 1B": {
        "model_type": "llama",
        "head_dim": 64,
        "hidden_size": 2048,
        "num_attention_heads": 32,
        "num_hidden_layers": 16,
        "max_position_embeddings": 131072,
        "rope_theta": 500000.0,
        "rope_scaling": {
            "factor": 32.0,
            "high_freq_factor": 4.0,
            "low_freq_factor": 1.0,
            "original_max_position_embeddings": 8192,
            "rope_type": "llama3",
        },
    },
    "Mistral 7B v0.1": {
        "model_type": "mistral",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "max_position_embeddings": 32768,
        "rope_theta": 10000.0,
        "sliding_window": 4096,
    },
    "Qwen2.5 7B with YaRN": {
        "model_type": "qwen2",
        "hidden_size": 3584,
        "num_attention_heads": 28,
        "num_hidden_layers": 28,
        "max_position_embeddings": 32768,
        "rope_theta": 1000000.0,
        "rope_scaling": {
            "factor": 4.0,
            "original_max_position_embeddings": 32768,
            "type": "yarn",
        },
    },
    "gpt-oss 20B": {
        "model_type": "gpt_oss",
        "head_dim": 64,
        "hidden_size": 2880,
        "num_attention_heads": 64,
        "num_hidden_layers": 24,
        "max_position_embeddings": 131072,
        "rope_theta": 150000,
        "rope_scaling": {
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "factor": 32.0,
            "original_max_position_embeddings": 4096,
            "rope_type": "yarn",
            "truncate": False,
        },
    },
    "Phi-3 mini 128k": {
        "model_type": "phi3",
        "hidden_size": 3072,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "max_position_embeddings": 131072,
        "original_max_position_embeddings": 4096,
        "rope_theta": 10000.0,
        "rope_scaling": {
            "long_factor": _PHI3_LONG,
            "short_factor": _PHI3_SHORT,
            "type": "su",
        },
    },
    "Gemma 3 4B": {
        "model_type": "gemma3_text",
        "head_dim": 256,
        "hidden_size": 2560,
        "num_attention_heads": 8,
        "num_hidden_layers": 34,
        "max_position_embeddings": 131072,
        "rope_local_base_freq": 10000.0,
        "rope_theta": 1000000.0,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 1024,
    },
    "GPT-NeoX 20B": {
        "model_type": "gpt_neox",
        "hidden_size": 6144,
        "num_attention_heads": 64,
        "num_hidden_layers": 44,
        "max_position_embeddings": 2048,
        "rotary_emb_base": 10000,
        "rotary_pct": 0.25,
    },
    "DeepSeek-V3": {
        "model_type": "deepseek_v3",
        "hidden_size": 7168,
        "num_attention_heads": 128,
        "num_hidden_layers": 61,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "max_position_embeddings": 163840,
        "rope_theta": 10000,
        "rope_scaling": {
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 40,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
    },
}


def known_configs() -> dict[str, dict[str, Any]]:
    """``{name: config}``, each with the keys that concern RoPE, as its file spells them.

    >>> known_configs()["Llama 2 7B"]["rope_theta"]
    10000.0
    """
    return copy.deepcopy(_CONFIGS)
