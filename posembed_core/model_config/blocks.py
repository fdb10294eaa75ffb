"""Where a model's config keeps its RoPE settings, in each spelling in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posembed_core.model_config.defaults import (
    DEFAULT_BASE,
    GLOBAL,
    LOCAL,
    default_block,
    default_blocks,
    shares_base,
)
from posembed_core.model_config.model_types import model_type, part_of
from posembed_core.parameters import EncodingError, shown

# Models with several parts keep the language model's settings in one of these.
_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
_BLOCKS = ("rope_scaling", "rope_parameters")
_GLOBAL_BASES = ("rope_theta", "rotary_emb_base", "rotary_base", "global_rope_theta")
_LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta", "swa_rope_theta")
_PARTS = ("partial_rotary_factor", "rotary_pct", "rope_pct")
# DeepSeek-V4: its layers with a window turn by "main", those that compress by "compress".
MAIN, COMPRESS = "main", "compress"
_COMPRESSED_BASES = ("compress_rope_theta",)
_NAMES_OF_SIZES = {
    "dim": "hidden_size",  # Mistral's and Meta's params.json
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "d_model": "hidden_size",
    "n_embd": "hidden_size",
    "n_head": "num_attention_heads",
    "n_layer": "num_hidden_layers",
    "num_layers": "num_hidden_layers",
}


class ConfigError(EncodingError):
    """A config whose RoPE cannot be computed: ``field`` is the key, ``reason`` why it matters."""

    def __init__(self, message: str, *, field: str, reason: str, nearest: Any = None) -> None:
        super().__init__(message, field=field, nearest=nearest)
        self.reason = reason


@dataclass(frozen=True)
class RopeBlock:
    """The RoPE settings of one kind of layer.

    ``layer_type`` is "" where all layers share them; ``path`` says where ``keys`` are in the
    config, "" without one. ``config`` is the language model's part of the file. Layers whose block
    is null don't rotate.
    """

    layer_type: str
    path: str
    keys: Mapping[str, Any]
    config: Mapping[str, Any]
    rotates: bool = True

    @property
    def rope_type(self) -> str:
        """``rope_type``, or ``type`` as it was called before, or "default"."""
        for key in ("rope_type", "type"):
            if self.keys.get(key) is not None:
                return str(self.keys[key])
        return "default"

    def place(self, key: str) -> str:
        """A key of this block, preceded by the block's path."""
        return f"{self.path}.{key}" if self.path else key

    def bases(self) -> dict[str, Any]:
        """Every base that the config gives these layers; the first one counts.

        As in transformers 5.24 the block's own ``rope_theta`` wins, then the one beside the block.
        """
        inside = {self.place("rope_theta"): self.keys.get("rope_theta")} if self.path else {}
        return _given(inside | {key: self.config.get(key) for key in self._outer_bases()})

    def _outer_bases(self) -> tuple[str, ...]:
        if isinstance(self.config.get("rope_theta"), list) and self.path.startswith("layers["):
            return ()  # the list has been read for each kind
        if self.layer_type == COMPRESS:
            return _COMPRESSED_BASES
        if self.layer_type == LOCAL and _two_bases(self.config):
            shared = shares_base(self.config) and not _given_any(self.config, _LOCAL_BASES)
            return _GLOBAL_BASES if shared else _LOCAL_BASES
        return _GLOBAL_BASES

    def base(self) -> tuple[Any, str]:
        """The base, and where it comes from."""
        for key, value in self.bases().items():
            return value, key
        ratio = self.config.get("rope_ratio")  # ChatGLM and GLM-4: of the usual base
        if isinstance(ratio, int | float) and not isinstance(ratio, bool):
            return DEFAULT_BASE * ratio, "10,000 × rope_ratio"
        default = default_block(self.config, self.layer_type).get("rope_theta")
        if default is not None:
            return default, f"transformers' default for {self.config['model_type']}"
        if model_type(self.config.get("model_type")):
            return DEFAULT_BASE, f"the default of {self.config['model_type']}"
        return DEFAULT_BASE, "transformers' default"

    def rotated_parts(self) -> dict[str, Any]:
        """Every share of rotated dimensions that the config gives; the first one counts.

        The type's own where it gives none.
        """
        inside = _given({self.place(key): self.keys.get(key) for key in _PARTS})
        outside = _given({key: self.config.get(key) for key in _PARTS})
        return inside | outside if self.path else outside or inside

    def trained_lengths(self) -> dict[str, Any]:
        """Every ``original_max_position_embeddings``; the one beside a block wins (Phi-3).

        The type's own where the config gives none.
        """
        key = "original_max_position_embeddings"
        inside = _given({self.place(key): self.keys.get(key)})
        outside = _given({key: self.config.get(key)})
        return outside | inside if self.path else outside or inside


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part that describes the language model, with transformers' names for its sizes.

    In a config of several parts it is the inner one.

    >>> text_config({"vision_config": {}, "text_config": {"head_dim": 64}})
    {'head_dim': 64}
    >>> text_config({"model_type": "gptj", "n_embd": 4096})["hidden_size"]
    4096
    """
    own = part_of(config.get("model_type"))
    for part in (*(own[:1] if own else ()), *_TEXT_PARTS):
        inner = config.get(part)
        if isinstance(inner, Mapping):
            kind = own[1] if own and part == own[0] else None
            return text_config({"model_type": kind, **inner} if kind else inner)
    if own and own[1]:  # Qwen2-VL's file has no part for it
        return text_config({**config, "model_type": own[1]})
    return _named(config)


def _named(config: Mapping[str, Any]) -> Mapping[str, Any]:
    known = model_type(config.get("model_type"))
    names = dict(_NAMES_OF_SIZES)
    if known:
        names |= {name: size for size, name in known.names.items()}
    more = {
        size: config[name]
        for name, size in names.items()
        if config.get(name) is not None and config.get(size) is None
    }
    inner = config.get("attn_config")  # DBRX, MPT
    if isinstance(inner, Mapping):
        more |= {key: inner[key] for key in ("rope_theta", "alibi") if key in inner}
    return {**config, **more} if more else config


def rope_blocks(config: Mapping[str, Any]) -> tuple[RopeBlock, ...]:
    """One block for each kind of layer, and at least one.

    Raises `ConfigError` where a block is no object.

    >>> config = {"rope_theta": 500000.0, "rope_scaling": {"type": "linear", "factor": 2}}
    >>> (block,) = rope_blocks(config)
    >>> block.rope_type, block.base()
    ('linear', (500000.0, 'rope_theta'))
    """
    text = text_config(config)
    path, block = _block(text)
    nested = {key: value for key, value in block.items() if isinstance(value, Mapping)}
    if nested:
        plain = [key for key, value in block.items() if value is None and _is_kind(key)]
        return (
            *(RopeBlock(key, f"{path}.{key}", nested[key], text) for key in nested),
            *(RopeBlock(key, f"{path}.{key}", {}, text, rotates=False) for key in plain),
        )
    if not path and not _given_any(text, (*_GLOBAL_BASES, *_LOCAL_BASES, *_COMPRESSED_BASES)):
        return _default_blocks(text)
    if MAIN in default_blocks(text):
        # Only what is compressed is scaled, and its scores are not.
        compressed = {**block, "attention_factor": 1.0} if block else block
        return (RopeBlock(MAIN, "", {}, text), RopeBlock(COMPRESS, path, compressed, text))
    if isinstance(text.get("rope_theta"), list) and text["rope_theta"]:
        return _listed_blocks(text, block)
    if _two_bases(text):
        # Gemma 3 and ModernBERT before transformers 5, and OLMo 3: only global layers are scaled.
        never = default_blocks(text).get(GLOBAL, {}) is None
        return (
            RopeBlock(GLOBAL, path, block, text, rotates=not never),
            RopeBlock(LOCAL, "", {}, text),
        )
    return (RopeBlock("", path, block, text),)


def _default_blocks(text: Mapping[str, Any]) -> tuple[RopeBlock, ...]:
    """Those of a config that leaves all of it to its type."""
    blocks = default_blocks(text) or {"": {}}
    return tuple(
        RopeBlock(name, "", block or {}, text, rotates=block is not None)
        for name, block in blocks.items()
    )


def _listed_blocks(text: Mapping[str, Any], block: Mapping[str, Any]) -> tuple[RopeBlock, ...]:
    """Step 3.5 and 3.7 list a base, and a rotated part, for each layer; kinds share theirs."""
    bases, parts = text["rope_theta"], text.get("partial_rotary_factors")
    kinds = text.get("layer_types")
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        kinds = [GLOBAL] * len(bases)
    blocks = []
    for kind in dict.fromkeys(kinds[: len(bases)]):
        layer = kinds.index(kind)
        keys: dict[str, Any] = {"rope_theta": bases[layer]}
        if isinstance(parts, list) and layer < len(parts):
            keys["partial_rotary_factor"] = parts[layer]
        scaling = block if kind == GLOBAL else {}
        blocks.append(RopeBlock(kind, f"layers[{layer}]", {**scaling, **keys}, text))
    return tuple(blocks)


def _is_kind(key: str) -> bool:
    return key.endswith("_attention") or key in (MAIN, COMPRESS)


def _given_any(config: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    return any(config.get(key) is not None for key in keys)


def _block(text: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    for path in _BLOCKS:  # where both are given, transformers takes rope_scaling
        block = text.get(path)
        if block is not None and not isinstance(block, Mapping):
            raise ConfigError(
                f'{path} must be an object such as {{"rope_type": "linear", "factor": 2}} '
                f"or null, got {shown(block)}",
                field=path,
                reason="Its keys say which scaling there is and by how much.",
            )
        if block:
            return path, block
    return "", {}


def _two_bases(text: Mapping[str, Any]) -> bool:
    return _given_any(text, _LOCAL_BASES) or {GLOBAL, LOCAL} <= default_blocks(text).keys()


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}
