"""What one kind of layer rotates by: from its block of a config to a rotary encoding."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from posembed_core.base import RotaryEncoding
from posembed_core.model_config.blocks import ConfigError, RopeBlock
from posembed_core.model_config.defaults import default_block, default_of
from posembed_core.model_config.model_types import model_type
from posembed_core.model_config.numbers import number, whole
from posembed_core.parameters import shown
from posembed_core.registry import create, encodings


@dataclass(frozen=True)
class RopeSettings:
    """What a config says of one kind of layer, and where it says it.

    ``layer_type`` is "" where all layers are alike. The lengths are in tokens: the one before any
    extension and the one the config asks for (``max_position_embeddings``); None if not given.
    """

    encoding: RotaryEncoding
    layer_type: str
    rope_type: str
    base_from: str
    head_dim_from: str
    trained_length: int | None
    wanted_length: int | None


def settings_of(block: RopeBlock, cls: type[RotaryEncoding], head: tuple[int, str]) -> RopeSettings:
    """The settings of one kind of layer, whose keys have been checked.

    ``cls`` is the result of `rope_class`, ``head`` that of `head_size`. Raises `EncodingError` for
    settings that can't hold together.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> (block,) = rope_blocks({"rope_theta": 500000.0})
    >>> settings_of(block, rope_class(block), (64, "head_dim")).base_from
    'rope_theta'
    """
    base, base_from = block.base()
    head_dim, head_dim_from = head
    encoding = create(
        cls.slug,
        head_dim=head_dim,
        base=base,
        rotary_fraction=1.0 if _turning(cls) else _rotated_part(block, head_dim),
        pairing="interleaved" if is_interleaved(block.config) else "half",
        **_scaling(block, cls),
    )
    return RopeSettings(
        encoding=cast(RotaryEncoding, encoding),
        layer_type=block.layer_type,
        rope_type=block.rope_type,
        base_from=base_from,
        head_dim_from=head_dim_from,
        trained_length=_trained_length(block, cls),
        wanted_length=_wanted_length(block),
    )


def rope_class(block: RopeBlock) -> type[RotaryEncoding]:
    """The encoding that the block's type names; `ConfigError` for one that is unknown.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> rope_class(*rope_blocks({"rope_scaling": {"type": "yarn"}})).title
    'RoPE, YaRN'
    """
    known = {
        name: cls
        for cls in encodings().values()
        if issubclass(cls, RotaryEncoding)
        for name in cls.rope_types
    }
    if alpha_of(block) is not None:
        return known["ntk"]  # one base for all lengths
    if block.rope_type not in known:
        close = difflib.get_close_matches(block.rope_type, known, n=1)
        raise ConfigError(
            f"rope type {shown(block.rope_type)} is unknown; known are {', '.join(sorted(known))}"
            + (f"; did you mean {close[0]!r}?" if close else ""),
            field=block.place("rope_type"),
            reason="Programs that skip a type they don't know run without any scaling.",
            nearest=close[0] if close else None,
        )
    return known[block.rope_type]


def alpha_of(block: RopeBlock) -> Any:
    """HunYuan's ``alpha``, which its code reads in types "dynamic" and "xdrope"; else None.

    transformers 5.24, modeling_hunyuan_v1_dense.py, and the file beside HunYuan's first weights.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> scaling = {"type": "dynamic", "alpha": 1000.0}
    >>> [alpha_of(*rope_blocks({"model_type": name, "rope_scaling": scaling}))
    ...  for name in ("hunyuan_v1_dense", "llama")]
    [1000.0, None]
    """
    is_theirs = str(block.config.get("model_type")).startswith("hunyuan")
    reads = is_theirs and block.rope_type in ("dynamic", "xdrope")
    return block.keys.get("alpha") if reads else None


def long_mscale_of(block: RopeBlock) -> Any:
    """Phi-3.5-MoE's ``long_mscale``; None for any other model (transformers 5.24, phimoe).

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> long_mscale_of(*rope_blocks({"model_type": "phi3", "rope_scaling": {"long_mscale": 1.2}}))
    """
    return block.keys.get("long_mscale") if block.config.get("model_type") == "phimoe" else None


def check_required(block: RopeBlock, cls: type[RotaryEncoding]) -> None:
    """Raise a `ConfigError` that names every key that the type needs and the block lacks.

    >>> from posembed_core.model_config.blocks import rope_blocks
    >>> (block,) = rope_blocks({"rope_scaling": {"type": "linear", "factor": 2}})
    >>> check_required(block, rope_class(block))  # nothing is missing
    """
    given = dict(block.keys)
    if block.trained_lengths() or (cls.slug == "rope-yarn" and length_of(block.config)):
        given["original_max_position_embeddings"] = True
    if alpha_of(block) is not None:
        given["factor"] = True
    missing = [key for key in cls.required_keys if given.get(key) is None]
    if missing:
        raise ConfigError(
            f"type {block.rope_type!r} needs {' and '.join(missing)} in "
            f"{block.path or 'rope_parameters'}, which "
            f"{'is' if len(missing) == 1 else 'are'} missing",
            field=block.place(missing[0]),
            reason="Programs that fall back to a default of their own scale by another amount.",
        )
    if not _derived_length(cls) and not _derived_factor(block, cls):
        return
    if length_of(block.config) is None:
        raise ConfigError(
            f"type {block.rope_type!r} needs max_position_embeddings in the config, "
            "which is missing",
            field="max_position_embeddings",
            reason="The scaling is measured against it.",
        )


def _scaling(block: RopeBlock, cls: type[RotaryEncoding]) -> dict[str, Any]:
    keys = (*cls.required_keys, *cls.optional_keys)
    given = {key: block.keys[key] for key in keys if block.keys.get(key) is not None}
    if (alpha := alpha_of(block)) is not None:
        given["factor"] = number(block.place("alpha"), alpha)
    if (mscale := long_mscale_of(block)) is not None:
        given["attention_factor"] = number(block.place("long_mscale"), mscale)
    length = "original_max_position_embeddings"
    if length in cls.required_keys or _derived_length(cls):
        given[length] = _trained_length(block, cls)
    if _derived_factor(block, cls):
        # Phi-3 gives both lengths and no factor.
        given["factor"] = (_wanted_length(block) or 0) / given[length]
    if _turning(cls):
        given["partial_rotary_factor"] = next(iter(block.rotated_parts().values()), 1.0)
    return given


def _derived_length(cls: type[RotaryEncoding]) -> bool:
    """Dynamic NTK has a trained length and takes it from max_position_embeddings."""
    length = "original_max_position_embeddings"
    return length in cls.parameters() and length not in cls.required_keys


def _derived_factor(block: RopeBlock, cls: type[RotaryEncoding]) -> bool:
    lengths = "original_max_position_embeddings" in cls.required_keys
    return lengths and "factor" in cls.optional_keys and block.keys.get("factor") is None


def _turning(cls: type[RotaryEncoding]) -> bool:
    """Proportional RoPE pairs the whole head, so it handles the turning share itself."""
    return "partial_rotary_factor" in cls.optional_keys


def _trained_length(block: RopeBlock, cls: type[RotaryEncoding]) -> int | None:
    if "original_max_position_embeddings" in cls.required_keys:
        for key, value in block.trained_lengths().items():
            return whole(key, value)
    return _wanted_length(block)


# Where the greatest length stands, by transformers' names and others' (GPT-2, ChatGLM, MPT).
_LENGTHS = (
    "max_position_embeddings", "n_positions", "seq_length", "model_max_length", "max_seq_len",
    "max_sequence_length",
)  # fmt: skip


def length_of(config: Mapping[str, Any]) -> int | None:
    """The greatest length that a config gives, in tokens; None if it gives none.

    >>> length_of({"n_positions": 1024}), length_of({})
    (1024, None)
    """
    for key in _LENGTHS:
        if (value := config.get(key)) is not None:
            return whole(key, value)
    return None


def _wanted_length(block: RopeBlock) -> int | None:
    return length_of(block.config)


def _rotated_part(block: RopeBlock, head_dim: int) -> float:
    config = block.config
    has_own = config.get("head_dim") is None and default_of(config, "qk_rope_head_dim")
    if config.get("qk_rope_head_dim") is not None or has_own:
        return 1.0  # the rotated dimensions are a head of their own
    for key, value in block.rotated_parts().items():
        return number(key, value)
    if config.get("rotary_dim") is not None:  # GPT-J counts dimensions
        return _exact_share(whole("rotary_dim", config["rotary_dim"]), head_dim)
    if (rotated := default_of(config, "rotary_dim")) is not None:
        return _exact_share(rotated, head_dim)
    default = default_block(config, block.layer_type).get("partial_rotary_factor")
    if default is None:
        default = default_of(config, "partial_rotary_factor")
    return 1.0 if default is None else float(default)


def _exact_share(dimensions: int, head_dim: int) -> float:
    share = dimensions / head_dim
    # The encoding rounds head_dim * share down, so a quotient rounded down would lose a dimension.
    return share if int(head_dim * share) == dimensions else math.nextafter(share, math.inf)


def is_interleaved(config: Mapping[str, Any]) -> bool:
    """Whether neighbouring dimensions form a pair, by the config or else by its type.

    >>> is_interleaved({"model_type": "glm4"}), is_interleaved({"model_type": "llama"})
    (True, False)
    """
    given = config.get("rope_interleave")
    if given is not None:
        return bool(given)
    if config.get("model_type") is None and {"dim", "n_heads"} <= config.keys():
        return True  # Mistral's and Meta's params.json, whose code multiplies complex numbers
    known = model_type(config.get("model_type"))
    return known is not None and known.pairs == "interleaved"
