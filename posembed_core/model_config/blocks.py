"""Where a model's config keeps its RoPE settings, in each spelling in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posembed_core.model_config.defaults import DEFAULT_BASE, model_defaults
from posembed_core.parameters import EncodingError, shown

# Models with several parts keep the language model's settings in one of these.
_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
_BLOCKS = ("rope_scaling", "rope_parameters")
_GLOBAL_BASES = ("rope_theta", "rotary_emb_base", "global_rope_theta")
_LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
_PARTS = ("partial_rotary_factor", "rotary_pct")
GLOBAL, LOCAL = "full_attention", "sliding_attention"


class ConfigError(EncodingError):
    """A config whose RoPE cannot be computed: ``field`` is the key, ``reason`` why it matters."""

    def __init__(self, message: str, *, field: str, reason: str, nearest: Any = None) -> None:
        super().__init__(message, field=field, nearest=nearest)
        self.reason = reason


@dataclass(frozen=True)
class RopeBlock:
    """The RoPE settings of one kind of layer.

    ``layer_type`` is "" where all layers share them; ``path`` says where ``keys`` are in the
    config, "" without one. ``config`` is the language model's part of the file.
    """

    layer_type: str
    path: str
    keys: Mapping[str, Any]
    config: Mapping[str, Any]

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
        outer = (
            _LOCAL_BASES if self.layer_type == LOCAL and _two_bases(self.config) else _GLOBAL_BASES
        )
        inside = {self.place("rope_theta"): self.keys.get("rope_theta")} if self.path else {}
        return _given(inside | {key: self.config.get(key) for key in outer})

    def base(self) -> tuple[Any, str]:
        """The base, and where it comes from."""
        for key, value in self.bases().items():
            return value, key
        defaults = model_defaults(self.config.get("model_type"))
        outer = _LOCAL_BASES if self.layer_type == LOCAL else ()
        for key in (*outer, *_GLOBAL_BASES):
            if key in defaults:
                return defaults[key], f"transformers' default for {self.config['model_type']}"
        return DEFAULT_BASE, "transformers' default"

    def rotated_parts(self) -> dict[str, Any]:
        """Every share of rotated dimensions that the config gives; the first one counts."""
        inside = {self.place(key): self.keys.get(key) for key in _PARTS} if self.path else {}
        return _given(inside | {key: self.config.get(key) for key in _PARTS})

    def trained_lengths(self) -> dict[str, Any]:
        """Every ``original_max_position_embeddings``; the one beside a block wins (Phi-3)."""
        key = "original_max_position_embeddings"
        inside = {self.place(key): self.keys.get(key)} if self.path else {}
        return _given({key: self.config.get(key)} | inside)


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part that describes the language model: in a multimodal config, the inner one.

    >>> text_config({"vision_config": {}, "text_config": {"head_dim": 64}})
    {'head_dim': 64}
    """
    for part in _TEXT_PARTS:
        inner = config.get(part)
        if isinstance(inner, Mapping):
            return text_config(inner)
    return config


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
        return tuple(RopeBlock(key, f"{path}.{key}", nested[key], text) for key in nested)
    if _two_bases(text):
        # Gemma 3 and ModernBERT before transformers 5: only global layers are scaled.
        return (RopeBlock(GLOBAL, path, block, text), RopeBlock(LOCAL, "", {}, text))
    return (RopeBlock("", path, block, text),)


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
    defaults = model_defaults(text.get("model_type"))
    return any(key in text or key in defaults for key in _LOCAL_BASES)


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}
