"""What a config may leave out: the defaults in the model code of transformers 5.24."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posembed_core.model_config.model_types import model_type

GLOBAL, LOCAL = "full_attention", "sliding_attention"
DEFAULT_BASE = 10_000.0


def default_of(config: Mapping[str, Any], key: str) -> Any:
    """What a config of its type may leave out for this key; None where nothing is known.

    >>> default_of({"model_type": "qwen3"}, "head_dim")
    128
    """
    known = model_type(config.get("model_type"))
    return known.defaults.get(key) if known else None


def default_blocks(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any] | None]:
    """The blocks of the type's kinds of layers; under "" where all layers share one.

    >>> default_blocks({"model_type": "gemma3_text"})["sliding_attention"]["rope_theta"]
    10000.0
    """
    block = default_of(config, "rope_parameters") or {}
    if any(isinstance(value, Mapping) for value in block.values()):
        return dict(block)
    return {"": block} if block else {}


def default_block(config: Mapping[str, Any], layer_type: str) -> Mapping[str, Any]:
    """The block of one kind of layer, empty where nothing is known.

    >>> default_block({"model_type": "smollm3"}, "")["rope_theta"]
    2000000.0
    """
    blocks = default_blocks(config)
    block = blocks.get(layer_type) or blocks.get("") or blocks.get(GLOBAL)
    return block or next((block for block in blocks.values() if block), {})


def shares_base(config: Mapping[str, Any]) -> bool:
    """Whether the layers with a window take the base of the others unless they have their own.

    >>> shares_base({"model_type": "olmo3"}), shares_base({"model_type": "gemma3_text"})
    (True, False)
    """
    blocks = default_blocks(config)
    bases = {(block or {}).get("rope_theta") for block in blocks.values()}
    return len(bases) == 1
