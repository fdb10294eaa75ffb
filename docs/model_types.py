"""Write posembed_core/model_config/types.json: what model types of transformers do by default.

    python docs/model_types.py

Everything in it is read from the installed transformers: which types rotate, by which pairs, with
which defaults, and where a model of several parts keeps its language model. A test reads it again.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, model_type_to_module_name
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

MODELS = Path(transformers.__file__).parent / "models"
FILE = Path(__file__).parents[1] / "posembed_core/model_config/types.json"
TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config", "decoder")
# What a config may leave out, by transformers' own names for it.
KEPT = (
    "hidden_size", "num_attention_heads", "head_dim", "qk_rope_head_dim", "num_hidden_layers",
    "rope_parameters", "partial_rotary_factor", "sliding_window", "rotary_dim",
    "position_embedding_type", "alibi", "use_mem_rope", "per_layer_config",
    "no_rope_layer_interval", "attention_chunk_size", "local_attention",
)  # fmt: skip
LISTS = ("layer_types", "no_rope_layers", "layer_rope_theta")
# By names that files give their sizes.
NAMED = ("hidden_size", "num_attention_heads", "num_hidden_layers", "head_dim",
         "max_position_embeddings")  # fmt: skip
PATCHES = {"patch_size", "image_size"}
LONGER = 7  # layers by which a pattern is tried out


def describe(model_type: str) -> dict[str, Any] | None:
    """One type's entry; None where transformers has no default config for it."""
    cls = CONFIG_MAPPING[model_type]
    try:
        config = cls()
    except Exception:  # noqa: BLE001 - a config that can't stand without its parts
        return None
    parts = getattr(cls, "sub_configs", None) or {}
    for part in TEXT_PARTS:
        if part in parts and not isinstance(getattr(config, part, None), list):
            inner = getattr(config, part, None)
            return {"part": part, "type": getattr(inner, "model_type", None)}
    module, source = modelling(model_type)
    shown = config.to_dict()
    if not rotates(cls, config, module, source):
        return {}
    entry: dict[str, Any] = {"pairs": "interleaved" if is_interleaved(source) else "half"}
    names = {
        name: attribute
        for name, attribute in (getattr(cls, "attribute_map", None) or {}).items()
        if name in NAMED
    }
    if names:
        entry["names"] = names
    given = {new: shown[old] for new, old in names.items() if old in shown} | shown
    given = {"num_hidden_layers": given.get("num_layers")} | given  # LongCat-Flash
    given = {key: value for key, value in given.items() if value is not None}
    entry["defaults"] = {
        key: given[key] for key in KEPT if key in given and not is_derived(cls, key, given[key])
    }
    for key in LISTS:
        if key in given:
            entry["defaults"][key] = pattern(cls, key, given[key])
    block = given.get("rope_parameters") or {}
    if axes := block.get("mrope_section") or sections(cls, module):
        entry["defaults"]["mrope_section"] = axes
    axial = any(
        isinstance(part, dict) and part.get("rope_type") == "axial"
        for part in (block, *block.values())
    )
    if axial or (PATCHES & shown.keys() and "vocab_size" not in shown):
        return {"axes": True}
    return entry


def rotates(cls: type, config: Any, module: Any, source: str) -> bool:
    """Whether a rotary module of the type's file is made for this config."""
    says = {"rope_parameters", "rope_theta"} & config.to_dict().keys()
    for name in re.findall(r"^class (\w*Rotary\w*)\(", source, re.MULTILINE):
        rotary = getattr(module, name)
        if cls.__name__ in str(rotary.__init__.__annotations__.get("config", "")):
            return True
        if says:
            with contextlib.suppress(Exception):  # made for another part of the model
                rotary(config)
                return True
    return False


def sections(cls: type, module: Any) -> list[int] | None:
    """How many pairs take their positions from each axis by default, in the type's own module."""
    model = cls.__name__.removesuffix("Config").removesuffix("Text")  # Qwen2-VL takes the whole
    for name, rotary in vars(module).items():
        if isinstance(rotary, type) and "Rotary" in name:
            own = model in str(rotary.__init__.__annotations__.get("config", ""))
            default = re.search(r'get\("mrope_section", (\[.*?\])\)', inspect.getsource(rotary))
            if own and default:
                return list(json.loads(default[1]))
    return None


def modelling(model_type: str) -> tuple[Any, str]:
    """The modelling module of a type, its own or the one that it borrows, and its source."""
    folder = MODELS / model_type_to_module_name(model_type)
    for file in sorted(folder.glob("modeling_*.py")):
        try:
            module = importlib.import_module(f"transformers.models.{folder.name}.{file.stem}")
        except ImportError:  # a codec that stands on a library for sound
            return None, ""
        return module, file.read_text()
    for names in (MODEL_MAPPING_NAMES, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
        model = names.get(model_type)
        if isinstance(model, str) and hasattr(transformers, model):
            module = importlib.import_module(getattr(transformers, model).__module__)
            return module, Path(str(module.__file__)).read_text()
    return None, ""


def is_interleaved(source: str) -> bool:
    """Whether neighbouring dimensions form a pair, by the functions that rotate."""
    functions = dict(
        re.findall(r"^def (\w+)\((.*?)(?=^(?:def|class|@))", source, re.DOTALL | re.MULTILINE)
    )
    half = " ".join(body for name, body in functions.items() if name.startswith("rotate_half"))
    rotating = " ".join(body for name, body in functions.items() if "rot" in name)
    return (
        any(name.startswith("rotate_every_two") for name in functions)
        or "::2]" in half
        or "view_as_complex" in rotating
        or "apply_rotary_pos_emb_interleave" in functions
    )


def is_derived(cls: type, key: str, value: Any) -> bool:
    """Whether a default follows from the width: then a config that gives another has another."""
    if key != "head_dim":
        return False
    wide = {"hidden_size": 2 * (getattr(cls(), "hidden_size", 0) or 0)}
    try:
        return bool(getattr(cls(**wide), "head_dim", value) != value)
    except Exception:  # noqa: BLE001 - sizes that must agree with others
        return False


def pattern(cls: type, key: str, values: list[Any]) -> Any:
    """The shortest list that, repeated, gives every layer's value; all values if there is none.

    A pattern that is counted from the last layer is {"from_end": […]}, its last value first.
    """
    try:
        longer = list(getattr(cls(num_hidden_layers=len(values) + LONGER), key))
    except Exception:  # noqa: BLE001 - lengths that must agree with others
        longer = values
    for period in range(1, 13):
        if all(layers == repeat(values[:period], len(layers)) for layers in (values, longer)):
            return values[:period]
    for period in range(1, 13):
        last = values[::-1][:period]
        if all(layers[::-1] == repeat(last, len(layers)) for layers in (values, longer)):
            return {"from_end": last}
    return values


def repeat(values: list[Any], count: int) -> list[Any]:
    """The first values of an endless repetition."""
    return [values[i % len(values)] for i in range(count)]


def main() -> None:
    """Write the file."""
    transformers.logging.set_verbosity_error()
    types = {
        name: entry for name in sorted(CONFIG_MAPPING) if (entry := describe(name)) is not None
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in types.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
