"""What stands beside a model's frequencies: several axes of position, attention sinks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import posembed_core as pc
from docs.model_types import modelling
from posembed_core.model_config import read_rope
from posembed_core.model_config.notes import SINKS
from tests.core.model_config.test_positions import TYPES


def qwen2_vl(**block: Any) -> dict[str, Any]:
    return {
        "model_type": "qwen2_vl_text", "head_dim": 128, "num_hidden_layers": 2, "rope_theta": 1e6,
        "rope_scaling": {"type": "mrope", **block},
    }  # fmt: skip


def notes(config: dict[str, Any]) -> list[str]:
    findings = pc.positions_from_config(config).findings
    return [finding.message for finding in findings if finding.severity == "note"]


@pytest.mark.parametrize(
    "config",
    [qwen2_vl(mrope_section=[16, 24, 24]), qwen2_vl(), {"model_type": "qwen2_vl"}],
    ids=["given", "left out", "bare"],
)
def test_pairs_of_three_axes_are_said_to_have_them(config: dict[str, Any]) -> None:
    (note,) = notes(config)
    assert note == "The pairs take their positions from 3 axes, in sections of 16, 24, 24 pairs."
    assert all(finding.severity == "note" for finding in read_rope(config).findings)


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ([16, 24, 20], r"must add up to the 64 pairs that turn, got \[16, 24, 20\], .* to 60"),
        ([16, 24, 24.5], "whole number of pairs for each axis"),
        ([16, 24, -24], "whole number of pairs for each axis"),
        ([], "whole number of pairs for each axis"),
        (64, "whole number of pairs for each axis"),
        ([64, "0"], "remove the quotes"),
    ],
)
@pytest.mark.parametrize("key", ["mrope_section", "xdrope_section"])
def test_sections_that_are_not_the_pairs_are_an_error(key: str, sections: Any, words: str) -> None:
    config = qwen2_vl(**{key: sections})
    with pytest.raises(pc.EncodingError, match=words):
        pc.positions_from_config(config)
    with pytest.raises(pc.EncodingError, match=words):
        pc.rotary_from_config(config)
    (error,) = (finding for finding in read_rope(config).findings if finding.severity == "error")
    assert error.key.startswith(f"rope_scaling.{key}")


def test_sections_are_of_the_pairs_that_turn() -> None:
    # GLM-4.1V: half of a head of 128 dimensions turns (transformers 5.24, configuration_glm4v.py).
    glm = {
        "model_type": "glm4v_text", "head_dim": 128, "partial_rotary_factor": 0.5,
        "rope_scaling": {"rope_type": "default", "mrope_section": [8, 12, 12]},
    }  # fmt: skip
    assert "8, 12, 12" in notes(glm)[0]
    with pytest.raises(pc.EncodingError, match="must add up to the 64 pairs"):
        pc.positions_from_config({**glm, "partial_rotary_factor": 1.0})


def test_hunyuan_vl_has_an_alpha_and_four_axes() -> None:
    # tencent/HunyuanOCR's config.json; the code turns by 10,000 · alpha^(d / (d − 2)).
    ocr = {
        "model_type": "hunyuan_vl", "head_dim": 128, "num_hidden_layers": 24, "rope_theta": 1e4,
        "max_position_embeddings": 32768,
        "rope_scaling": {
            "type": "xdrope", "alpha": 1000.0, "factor": 1.0, "xdrope_section": [16, 16, 16, 16],
        },
    }  # fmt: skip
    inv_freq = pc.rotary_from_config(ocr).inv_freq()
    assert inv_freq[-1].item() == pytest.approx((1e4 * 1000 ** (128 / 126)) ** (-126 / 128))
    assert "4 axes" in notes(ocr)[0]


def test_attention_sinks_are_named_where_a_type_has_them() -> None:
    for name in sorted(SINKS):
        (note,) = (note for note in notes({"model_type": name}) if "sink" in note)
        assert "attention sink" in note
    assert notes({"model_type": "llama"}) == []
    assert "In layers with a window" in notes({"model_type": "mimo_v2_flash"})[0]


@pytest.mark.models
def test_the_types_with_attention_sinks_are_those_of_transformers() -> None:
    def has_sinks(name: str) -> bool:
        return (
            re.search(r"self\.sinks = nn\.|self\.sink_proj = nn\.", modelling(name)[1]) is not None
        )

    texts = [name for name in CONFIG_MAPPING if name in TYPES and not name.endswith("_vision")]
    assert {name for name in texts if "part" not in TYPES[name] and has_sinks(name)} == SINKS
