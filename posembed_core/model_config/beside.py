"""What stands beside the rotation: queries scaled by their position, and the scores' factor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posembed_core.model_config.defaults import default_blocks
from posembed_core.model_config.numbers import number, whole

# Types whose softmax takes 0.1 · mscale_all_dim · ln(factor) + 1, squared: transformers 5.24.
_SCALED_SCORES = frozenset(
    """axk1 axk2 bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa hy_v4
    hy_v4_vl_text kimi_k2 kimi_vl_text longcat_flash minicpm3 mistral4 sarvam_mla youtu""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class QueryScale:
    """A factor of the queries at a position, counted from 0; see the functions for the sources.

    ``kind`` is "log" for 1 + β ln(1 + ⌊(i + first) / length⌋), "logn" for log(i + 1) / log(length)
    beyond that length, "power" for (1 + (i + 1) / length)^β, and "" for none.
    """

    kind: str = ""
    beta: float = 0.0
    length: int = 1
    first: int = 0

    def __call__(self, position: int) -> float:
        """The factor; 1 where there is none.

        >>> QueryScale("log", beta=0.1, length=8192)(8192) == 1 + 0.1 * math.log(2)
        True
        """
        if self.kind == "log":
            return 1 + self.beta * math.log1p((position + self.first) // self.length)
        if self.kind == "logn" and position + 1 > self.length > 1:
            return math.log(position + 1) / math.log(self.length)
        if self.kind == "power":
            return float((1 + (position + 1) / self.length) ** self.beta)
        return 1.0


def query_scale(config: Mapping[str, Any], rotates: bool) -> QueryScale:
    """How a layer's queries are scaled: by type and keys of the language model's config.

    Llama 4 scales the layers that don't rotate (modeling_llama4.py of transformers 5.24), Ministral
    3 and Mistral 4 all of them (get_llama_4_attn_scale), Beam those without a rotation; Qwen-7B by
    log-n attention beyond its trained length (modeling_qwen.py beside its weights).

    >>> query_scale({"model_type": "llama"}, rotates=True)(100_000)
    1.0
    """
    name = config.get("model_type")
    if name == "llama4_text" and not rotates and config.get("attn_temperature_tuning", True):
        return QueryScale(
            "log",
            number("attn_scale", config.get("attn_scale", 0.1)),
            whole("floor_scale", config.get("floor_scale", 8192)),
            first=1,
        )
    block = _block(config)
    if block and (beta := block.get("llama_4_scaling_beta")) is not None:
        trained = block.get("original_max_position_embeddings")
        if trained is not None:
            length = whole("original_max_position_embeddings", trained)
            return QueryScale("log", number("llama_4_scaling_beta", beta), length)
    if name == "beam" and not rotates:
        return QueryScale("power", 0.1, 2048)
    if config.get("use_logn_attn") is True and config.get("seq_length") is not None:
        return QueryScale("logn", length=whole("seq_length", config["seq_length"]))
    return QueryScale()


def score_scale(config: Mapping[str, Any]) -> float:
    """The factor of all scores beside 1/√d: (0.1 · mscale_all_dim · ln(factor) + 1)², else 1.

    DeepSeek-V2 and -V3 and the types that share their attention (transformers 5.24), with YaRN.

    >>> yarn = {"type": "yarn", "factor": 40, "mscale_all_dim": 1.0}
    >>> round(score_scale({"model_type": "deepseek_v3", "rope_scaling": yarn}), 6)
    1.873854
    """
    block = _block(config)
    if str(config.get("model_type")) not in _SCALED_SCORES:
        return 1.0
    mscale, factor = block.get("mscale_all_dim"), block.get("factor")
    if not mscale or factor is None or block.get("rope_type", block.get("type")) != "yarn":
        return 1.0
    growth = math.log(max(number("factor", factor), 1.0))
    return float((0.1 * number("mscale_all_dim", mscale) * growth + 1) ** 2)


def _block(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The block that all layers share, the type's own where the config gives none."""
    given = config.get("rope_scaling") or config.get("rope_parameters")
    block = given or default_blocks(config).get("")
    return block if isinstance(block, Mapping) else {}
