"""One model has one answer, whatever its type is called and however its config is written."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import posembed_core as pc
from posembed_core.model_config.layer_kinds import layer_kinds
from posembed_core.model_config.model_types import _AS
from tests.core.model_config.test_positions import ROTARY, SAMPLE, TYPES

transformers.logging.set_verbosity_error()
# Types whose pattern is known for their own number of layers only; their files give layer_types.
OF_ONE_LENGTH = {"dory"}


def answer(config: dict[str, Any]) -> object:
    """What position does in each layer; the sentence of a config that can't be read."""
    try:
        model = pc.positions_from_config(config)
    except pc.EncodingError as error:
        return str(error)
    return model.input, [
        (layer.encoding, layer.kind, layer.window, layer.score_scale, layer.queries)
        for layer in model.layers
    ]


def as_before_version_5(config: dict[str, Any]) -> dict[str, Any]:
    """The config with rope_theta beside rope_scaling, as transformers 4 wrote it."""
    block = dict(config["rope_parameters"])
    old = {key: value for key, value in config.items() if key != "rope_parameters"}
    for key in ("rope_theta", "partial_rotary_factor"):
        if key in block:
            old[key] = block.pop(key)
    kind = block.pop("rope_type")
    return {**old, "rope_scaling": {"type": kind, **block} if kind != "default" or block else None}


def check(name: str) -> None:
    """A type's default config is read alike in each form in which it may be met."""
    cls = CONFIG_MAPPING[name]
    config = cls()
    saved = config.to_dict()
    expected = answer(saved)
    assert answer(config.to_diff_dict()) == expected
    assert answer(cls.from_dict(copy.deepcopy(saved)).to_dict()) == expected
    if "part" in TYPES[name]:
        assert answer(getattr(config, TYPES[name]["part"]).to_dict()) == expected
    if name not in ROTARY:
        return
    if name != "esm":  # whose default is a table, of a size that a file must give
        assert answer({"model_type": name}) == expected
    block = saved.get("rope_parameters")
    if block and not any(value is None or isinstance(value, dict) for value in block.values()):
        assert answer(as_before_version_5(saved)) == expected


@pytest.mark.parametrize("name", [*SAMPLE, "gpt_oss", "ministral3", "beam", "gemma3", "gpt2"])
def test_a_config_and_its_other_forms_have_one_answer(name: str) -> None:
    check(name)


@pytest.mark.models
@pytest.mark.parametrize("name", TYPES)
def test_every_config_and_its_other_forms_have_one_answer(name: str) -> None:
    check(name)


@pytest.mark.parametrize(("name", "known"), [(name, other) for name, (other, _) in _AS.items()])
def test_a_model_of_two_names_has_one_answer(name: str, known: str) -> None:
    config = CONFIG_MAPPING[known]().to_dict()
    assert answer({**config, "model_type": name}) == answer(config)


def test_a_file_without_a_part_for_its_language_model_is_read_for_its_numbers() -> None:
    # As Qwen/Qwen2-VL-2B-Instruct's config.json gives them, beside its vision_config.
    numbers = {
        "hidden_size": 1536, "num_attention_heads": 12, "num_hidden_layers": 28,
        "max_position_embeddings": 32768, "rope_theta": 1e6,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
    }  # fmt: skip
    whole = {"model_type": "qwen2_vl", "vision_config": {"model_type": "qwen2_vl"}, **numbers}
    assert answer(whole) == answer({"model_type": "qwen2_vl_text", **numbers})
    assert len(pc.positions_from_config(whole).layers) == 28


def test_llama_4_looks_through_chunks_of_its_own_size() -> None:
    def chunks(**given: Any) -> list[tuple[str, int | None]]:
        config = {"model_type": "llama4_text", "num_hidden_layers": 4, **given}
        layers = pc.positions_from_config(config).layers
        return [(layer.kind, layer.window) for layer in layers]

    default = CONFIG_MAPPING["llama4_text"]().attention_chunk_size
    assert chunks() == [("chunked_attention", default)] * 3 + [("full_attention", None)]
    assert chunks(attention_chunk_size=512)[0] == ("chunked_attention", 512)
    without = CONFIG_MAPPING["llama4_text"](num_hidden_layers=4, attention_chunk_size=None)
    kinds = [kind for kind, _ in chunks(attention_chunk_size=None)]
    assert kinds == without.layer_types == ["full_attention"] * 4


@pytest.mark.parametrize(
    "key", ["sliding_window_pattern", "full_attention_interval", "global_attn_every_n_layers",
            "full_attn_idxs"],
)  # fmt: skip
def test_numbers_that_say_which_layers_see_all_are_read_where_transformers_reads_them(
    key: str,
) -> None:
    value = [1, 4] if key.endswith("idxs") else 3
    read = False
    for name in ROTARY:
        if "layer_types" not in TYPES[name]["defaults"] or name in OF_ONE_LENGTH:
            continue
        config = {"model_type": name, "num_hidden_layers": 7}
        without = CONFIG_MAPPING[name].from_dict(config).layer_types
        theirs = CONFIG_MAPPING[name].from_dict({**config, key: value}).layer_types
        assert [layer.kind for layer in layer_kinds({**config, key: value})] == theirs, name
        read = read or theirs != without
    assert read
