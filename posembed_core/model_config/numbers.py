"""The numbers of a config: whole or real, finite, within reason, and never a text in quotes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from posembed_core.base import RotaryEncoding
from posembed_core.model_config.blocks import ConfigError, RopeBlock
from posembed_core.model_config.defaults import GLOBAL, default_of
from posembed_core.parameters import Flag, Reals, as_float, int_or_none, shown

_LARGEST = 10**15
_SIZES = (("hidden_size", "num_attention_heads"),)


def number(name: str, value: Any) -> float:
    """``value`` if it is a finite number of at most 10^15, else a `ConfigError`.

    >>> number("factor", 2.5)
    2.5
    """
    if isinstance(value, str):
        raise ConfigError(
            f"{name} must be a number, got the text {shown(value)}; remove the quotes",
            field=name,
            reason="A text cannot be computed with; some programs read it as 0 or stop.",
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(
            f"{name} must be a number, got {shown(value)}",
            field=name,
            reason="The frequencies are computed from it.",
        )
    if not math.isfinite(as_float(value)) or abs(value) > _LARGEST:
        size = f"{value}" if isinstance(value, float) else "a whole number above 10^15"
        raise ConfigError(
            f"{name} must be a finite number of at most 10^15, got {size}",
            field=name,
            reason="No model has such a setting, and float arithmetic loses it.",
        )
    return value


def whole(name: str, value: Any) -> int:
    """``value`` if it is a positive whole number, else a `ConfigError`.

    >>> whole("head_dim", 64.0)
    64
    """
    count = int_or_none(number(name, value))
    if count is None or count < 1:
        raise ConfigError(
            f"{name} must be a whole number above 0, got {shown(value)}",
            field=name,
            reason="It counts dimensions, heads or positions.",
        )
    return count


def check_numbers(block: RopeBlock, cls: type[RotaryEncoding]) -> None:
    """Raise a `ConfigError` for the first key of the block that should be a number and isn't.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> from posembed_core.registry import encodings
    >>> (block,) = rope_blocks({"rope_scaling": {"type": "linear", "factor": 2}})
    >>> check_numbers(block, encodings()["rope-linear"])  # nothing is wrong
    """
    known = cls.parameters()
    for key in (*cls.required_keys, *cls.optional_keys):
        value = block.keys.get(key)
        parameter = known[cls.aliases.get(key, key)]
        if value is None or isinstance(parameter, Flag):
            continue
        if not isinstance(parameter, Reals):
            number(block.place(key), value)
        elif isinstance(value, list | tuple):
            for index, entry in enumerate(value):
                number(f"{block.place(key)}[{index}]", entry)
        else:
            raise ConfigError(
                f"{block.place(key)} must be a list of numbers, got {shown(value)}",
                field=block.place(key),
                reason="Each pair of dimensions has a factor of its own.",
            )
    for key, value in (block.bases() | block.rotated_parts()).items():
        number(key, value)


def head_size(block: RopeBlock) -> tuple[int, str]:
    """The dimensions of a head that position reaches, and where that number comes from.

    ``qk_rope_head_dim`` (DeepSeek's separate rotated dimensions), else ``head_dim``, else
    ``hidden_size / num_attention_heads``; Gemma 4's layers with full attention have a
    ``global_head_dim``. Raises `ConfigError` where there is none.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> head_size(*rope_blocks({"hidden_size": 4096, "num_attention_heads": 32}))
    (128, 'hidden_size / num_attention_heads')
    """
    config = block.config
    layer, own = _own_head(config, block.layer_type)
    if own is not None:
        return whole(layer, own), layer
    keys = ("global_head_dim",) if block.layer_type == GLOBAL else ()
    for key in (*keys, "qk_rope_head_dim"):
        if config.get(key) is not None:
            return whole(key, config[key]), key
    source = f"transformers' default for {config.get('model_type')}"
    if config.get("head_dim") is None and (own := default_of(config, "qk_rope_head_dim")):
        return own, source
    default = {"per_layer_config": default_of(config, "per_layer_config"),
               "layer_types": default_of(config, "layer_types")}  # fmt: skip
    if (wider := _own_head(default, block.layer_type)[1]) is not None:
        return wider, source
    if config.get("head_dim") is not None:
        return whole("head_dim", config["head_dim"]), "head_dim"
    if (head := default_of(config, "head_dim")) is not None:
        return head, source
    sizes = {key: default_of(config, key) for pair in _SIZES for key in pair}
    config = {**{key: size for key, size in sizes.items() if size is not None}, **config}
    for width, heads in _SIZES:
        if config.get(width) is not None and config.get(heads) is not None:
            return _share(width, heads, config)
    given = ", ".join(key for pair in _SIZES for key in pair if config.get(key) is not None)
    raise ConfigError(
        "the size of a head is missing: give head_dim, or hidden_size and num_attention_heads, "
        f"got {given or 'none of them'}",
        field="head_dim",
        reason="It sets how many pairs turn, and the frequency of each.",
    )


def _own_head(config: Mapping[str, Any], layer_type: str) -> tuple[str, Any]:
    """The head of the first layer of a kind that has one of its own (Gemma 4), and its place."""
    layers, kinds = config.get("per_layer_config"), config.get("layer_types")
    if not isinstance(layers, Mapping):
        return "", None
    for name, keys in layers.items():
        if not (str(name).isdigit() and isinstance(keys, Mapping) and keys.get("head_dim")):
            continue
        layer = int(name)
        kind = kinds[layer] if isinstance(kinds, list) and layer < len(kinds) else GLOBAL
        if kind == layer_type:
            return f"per_layer_config.{name}.head_dim", keys["head_dim"]
    return "", None


def _share(width: str, heads: str, config: Mapping[str, Any]) -> tuple[int, str]:
    dimensions, count = whole(width, config[width]), whole(heads, config[heads])
    if dimensions % count:
        raise ConfigError(
            f"{width} {dimensions} is not a multiple of {heads} {count}; give head_dim too",
            field="head_dim",
            reason="Without head_dim a head has hidden_size / num_attention_heads dimensions.",
        )
    return dimensions // count, f"{width} / {heads}"
