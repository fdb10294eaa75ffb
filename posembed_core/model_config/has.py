"""What a model has for position: as its type's code says, or else its config alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from posembed_core.model_config.model_types import Has, model_type
from posembed_core.parameters import shown

# What a config that rotates says, whatever its type.
_ROTARY_KEYS = (
    "rope_theta", "rope_scaling", "rope_parameters", "rotary_emb_base", "rotary_base",
    "global_rope_theta", "local_rope_theta", "rope_local_base_freq", "swa_rope_theta",
    "partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_dim", "rope_ratio",
    "qk_rope_head_dim", "no_rope_layers",
)  # fmt: skip
_PHRASES: dict[Has, str] = {
    "rotation": "a rotation of queries and keys (RoPE)",
    "learned": "a learned table of positions that is added to the input",
    "fixed": "a fixed table of sinusoids that is added to the input",
    "alibi": "a score bias that grows with distance (ALiBi)",
    "buckets": "a learned score bias for each bucket of distances, as T5 has it",
    "offsets": "a learned score bias for each offset along two axes, as Swin has it",
    "relative": "vectors for relative positions in the scores",
    "axes": "a rotation along two axes, for patches of a picture",
    "nothing": "nothing that says where a token is, but for its order in time or its mask",
    "unrecorded": "no rotation that transformers' code for it computes from this config; what it "
    "has instead is not recorded here",
}


@dataclass(frozen=True)
class Position:
    """What a model has, and how that is known: by its type, by the config alone, or not at all.

    ``has`` is None where nothing is known; ``why`` is one sentence.
    """

    has: Has | None
    known: Literal["type", "config", "unknown"]
    why: str

    @property
    def phrase(self) -> str:
        """What the model has, in words that follow "it has"."""
        return _PHRASES[self.has] if self.has else "nothing that is known here"


def what_it_has(config: Mapping[str, Any]) -> Position:
    """Read the language model's part of a config.

    >>> what_it_has({"model_type": "gpt2"}).phrase
    'a learned table of positions that is added to the input'
    >>> what_it_has({"model_type": "my-own"}).known
    'unknown'
    """
    name = config.get("model_type")
    known = model_type(name)
    if known is None:
        return _by_config(config, name)
    has, key = known.has, ""
    if config.get("alibi") is True or (name == "baichuan" and _is_baichuan_13b(config)):
        has, key = "alibi", "alibi" if config.get("alibi") else "model_max_length"
    elif "position_embedding_type" in known.defaults or "position_embedding_type" in config:
        has, key = _by_embedding_type(config, known.has), "position_embedding_type"
    elif "use_mem_rope" in known.defaults and not config.get("use_mem_rope", False):
        has, key = "nothing", "use_mem_rope"
    says = f"model_type {name!r} in {known.source}"
    return Position(has, "type", f"{says}, and {key} in the config" if key else says)


def _by_embedding_type(config: Mapping[str, Any], otherwise: Has) -> Has:
    given = config.get("position_embedding_type")
    if otherwise == "rotation" and config.get("model_type") != "esm":
        return "rotation" if given in ("rope", "rotary") else "nothing"
    if given == "rotary":
        return "rotation"
    if isinstance(given, str) and given.startswith("relative_key"):
        return "relative"
    return "learned" if otherwise == "rotation" else otherwise


def _is_baichuan_13b(config: Mapping[str, Any]) -> bool:
    """Baichuan-13B gives model_max_length, Baichuan-7B max_position_embeddings."""
    return "model_max_length" in config and "max_position_embeddings" not in config


def _by_config(config: Mapping[str, Any], name: object) -> Position:
    whose = "it names no model_type" if name is None else f"the type {shown(name)} isn't known here"
    if config.get("alibi") is True:
        return Position("alibi", "config", f"read from alibi in the config alone, because {whose}")
    if any(config.get(key) is not None for key in _ROTARY_KEYS):
        return Position("rotation", "config", f"read as a Llama-like RoPE, because {whose}")
    return Position(None, "unknown", f"{whose}, and no key of its config speaks of position")
