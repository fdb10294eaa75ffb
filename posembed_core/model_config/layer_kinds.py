"""Which kind each layer is, and which layers rotate at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from posembed_core.model_config.blocks import ConfigError
from posembed_core.model_config.defaults import GLOBAL, LOCAL, default_of
from posembed_core.model_config.numbers import whole
from posembed_core.parameters import shown

MOST_LAYERS = 10_000
CHUNKED, _CHUNK = "chunked_attention", "attention_chunk_size"
_WINDOWS = ("sliding_window", "sliding_window_size", "local_attention")
# Types whose layers rotate only where they look through a window: transformers 5.24.
_ONLY_WINDOWS = frozenset(
    ["afmoe", "cohere2", "cohere2_moe", "exaone4", "exaone_moe", "flint", "kolibri1", "lara_mini"]
)
# Of these the ones that all rotate where the config has no window.
_UNLESS_NO_WINDOW = frozenset(["exaone4", "exaone_moe", "kolibri1"])
_ALL_WINDOWS = frozenset(
    ["mistral", "mixtral", "ministral", "phi3", "phi4_multimodal", "starcoder2"]
)
# What else says which layers look at all tokens, by the types that read it: every how many layers
# one does; which do, and the kind of the others; that the last one does. transformers 5.24.
_EVERY = {
    "sliding_window_pattern": frozenset(
        ["cohere2", "cohere2_moe", "embedding_gemma2_text", "exaone4", "exaone_moe", "gemma3_text",
         "t5gemma2_decoder", "t5gemma2_text"]
    ),
    "full_attention_interval": frozenset(
        ["qwen3_5_moe_text", "qwen3_5_text", "qwen3_next", "qwen4_exp_text"]
    ),
    "global_attn_every_n_layers": frozenset(["afmoe", "modernbert", "modernbert-decoder"]),
}  # fmt: skip
_WHICH = {"lfm2": ("full_attn_idxs", "conv")}
_AND_THE_LAST = frozenset(
    ["beam", "diffusion_gemma_text", "embedding_gemma2_text", "flint", "gemma4_text",
     "gemma4_unified_text", "neomme"]
)  # fmt: skip
# Kinds of layers that compute no scores of queries and keys.
_WITHOUT_SCORES = ("linear_attention", "conv", "mamba", "mlp", "recurrent", "moe", "hybrid_mamba")


@dataclass(frozen=True)
class LayerKind:
    """One layer: its kind, whether it rotates, the window it looks through (tokens), and why."""

    kind: str
    rotates: bool
    window: int | None
    why: str = ""


def layer_kinds(config: Mapping[str, Any]) -> tuple[LayerKind, ...]:
    """One entry for each layer of the language model; one for each kind if nobody says how many.

    Raises `ConfigError` for numbers of layers that don't fit together.

    >>> [layer.rotates for layer in layer_kinds({"model_type": "smollm3", "num_hidden_layers": 4})]
    [True, True, True, False]
    """
    kinds = _kinds(config)
    turning = _turning(config, kinds)
    return tuple(
        LayerKind(kind, rotates, _window(config, kind), why)
        for kind, (rotates, why) in zip(kinds, turning, strict=True)
    )


def _kinds(config: Mapping[str, Any]) -> list[str]:
    given = config.get("layer_types")
    if isinstance(given, list) and given and all(isinstance(kind, str) for kind in given):
        return given[: _count(config) or len(given)]
    count = _count(config) or default_of(config, "num_hidden_layers")
    key, otherwise = _WHICH.get(name := str(config.get("model_type")), ("", ""))
    if isinstance(which := config.get(key), list):
        return [GLOBAL if i in which else otherwise for i in range(count or 1)]
    pattern = _pattern(config)
    if pattern and count:
        kinds = map(str, _repeated(pattern, count))
        unchunked = _CHUNK in config and config[_CHUNK] is None  # Llama 4 with chunks switched off
        repeated = [GLOBAL if kind == CHUNKED and unchunked else kind for kind in kinds]
        return [*repeated[:-1], GLOBAL] if name in _AND_THE_LAST else repeated
    kind = LOCAL if _has_window_everywhere(config) else GLOBAL
    return [kind] * (count or 1)


def _pattern(config: Mapping[str, Any]) -> Any:
    """The kinds that repeat: the type's, at the length that the config gives."""
    pattern = default_of(config, "layer_types")
    for key, types in _EVERY.items():
        if isinstance(every := config.get(key), int) and config.get("model_type") in types:
            first, last = pattern[0], pattern[-1]
            count = whole(key, every) - 1
            return [first, *[last] * count] if first == GLOBAL else [*[first] * count, last]
    return pattern


def _count(config: Mapping[str, Any]) -> int | None:
    value = config.get("num_hidden_layers")
    if value is None:
        return None
    count = whole("num_hidden_layers", value)
    if count > MOST_LAYERS:
        raise ConfigError(
            f"num_hidden_layers must be at most {MOST_LAYERS:,}, got {count:,}",
            field="num_hidden_layers",
            reason="Each layer is listed.",
        )
    return count


def _repeated(pattern: Any, count: int) -> list[Any]:
    if isinstance(pattern, Mapping):
        values = pattern["from_end"]
        return [values[i % len(values)] for i in range(count)][::-1]
    return [pattern[i % len(pattern)] for i in range(count)]


def _turning(config: Mapping[str, Any], kinds: Sequence[str]) -> list[tuple[bool, str]]:
    """Whether each layer rotates, and why not."""
    listed = _listed(config, len(kinds))
    name = str(config.get("model_type"))
    only_windows = name in _ONLY_WINDOWS and not (
        name in _UNLESS_NO_WINDOW and _size_of_window(config) is None
    )
    layers = []
    for kind, (key, turns) in zip(kinds, listed, strict=True):
        if kind in _WITHOUT_SCORES or kind.startswith(("linear", "mamba", "conv")):
            words = kind.replace("_", " ")
            layers.append((False, f"a layer of {words} has no scores to rotate"))
        elif not turns:
            layers.append((False, f"no rotation, by {key}"))
        elif only_windows and kind != LOCAL:
            layers.append((False, f"in {name} only layers with a window rotate"))
        else:
            layers.append((True, ""))
    return layers


def _listed(config: Mapping[str, Any], count: int) -> list[tuple[str, bool]]:
    for key in ("no_rope_layers", "layer_rope_theta"):
        given = config.get(key)
        interval = config.get("no_rope_layer_interval")
        if key == "no_rope_layers" and not given and interval is not None:
            every = whole("no_rope_layer_interval", interval)
            return [(f"no_rope_layer_interval {every}", (i + 1) % every != 0) for i in range(count)]
        if isinstance(given, list) and given:
            if len(given) < count:
                raise ConfigError(
                    f"{key} must have one entry for each of the {count} layers, got {len(given)}: "
                    f"{shown(given)}",
                    field=key,
                    reason="It says of each layer whether it rotates: 1 where it does.",
                )
            return [(key, bool(value)) for value in given[:count]]
        pattern = default_of(config, key)
        if pattern:
            return [(f"the default of {key}", bool(value)) for value in _repeated(pattern, count)]
    return [("", True)] * count


def _window(config: Mapping[str, Any], kind: str) -> int | None:
    if kind == CHUNKED:
        size = config.get(_CHUNK, default_of(config, _CHUNK))
        return None if size is None else whole(_CHUNK, size)
    return _size_of_window(config) if kind == LOCAL else None


def _size_of_window(config: Mapping[str, Any]) -> int | None:
    for key in _WINDOWS:
        if key in config:
            return None if config[key] is None else whole(key, config[key])
    defaults = (default_of(config, key) for key in _WINDOWS)
    return next((int(size) for size in defaults if size is not None), None)


def _has_window_everywhere(config: Mapping[str, Any]) -> bool:
    uses = config.get("use_sliding_window", True) is not False
    return str(config.get("model_type")) in _ALL_WINDOWS and uses and bool(_size_of_window(config))
