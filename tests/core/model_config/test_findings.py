"""Each finding has a config that triggers it and one that must not; valid configs have none."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

import posembed_core as pc
from posembed_core.model_config import known_configs, read_rope

LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
LONG = {
    "rope_type": "longrope",
    "short_factor": [1.0] * 64,
    "long_factor": [2.0] * 64,
    "original_max_position_embeddings": 4096,
}


def config(scaling: Any = None, **more: Any) -> dict[str, Any]:
    base = {
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "max_position_embeddings": 16384,
        "rope_theta": 500000.0,
    }
    return {**base, **({} if scaling is None else {"rope_scaling": scaling}), **more}


def test_nothing_is_odd_about_well_known_settings() -> None:
    for name, known in known_configs().items():
        assert {finding.severity for finding in read_rope(known).findings} <= {"note"}, name


VALID = [
    config(),
    config(None, rope_parameters={"rope_type": "default", "rope_theta": 500000.0}),
    config({"type": "linear", "rope_type": "linear", "factor": 2.0}),
    config({"rope_type": "dynamic", "factor": 2.0}),
    config(YARN),
    config({**YARN, "attention_factor": 1.3}),
    config({**YARN, "mscale": 1.0, "mscale_all_dim": 1.0}),
    config({**YARN, "original_max_position_embeddings": 16384}),
    config({"rope_type": "llama3", **LLAMA3}),
    config(LONG),
    config({**LONG, "factor": 4}),
    config({**YARN, "rope_theta": 500000.0}),
    config({}, partial_rotary_factor=0.5),
]


@pytest.mark.parametrize("valid", VALID, ids=str)
def test_a_valid_config_has_no_findings(valid: dict[str, Any]) -> None:
    before = copy.deepcopy(valid)
    assert read_rope(valid).findings == ()
    assert valid == before
    pc.rotary_from_config(valid)


# name: (severity, key, words of the sentence, a config with the finding, one without it)
CASES: dict[str, tuple[str, str, str, dict[str, Any], dict[str, Any]]] = {
    "unknown type": (
        "error",
        "rope_scaling.rope_type",
        "'yarm' is unknown.*did you mean 'yarn'",
        config({**YARN, "rope_type": "yarm"}),
        config(YARN),
    ),
    "missing key": (
        "error",
        "rope_scaling.original_max_position_embeddings",
        "'yarn' needs original_max_position_embeddings in rope_scaling, which is missing",
        config({"rope_type": "yarn", "factor": 4.0}, max_position_embeddings=None),
        config({"rope_type": "yarn", "factor": 4.0}, original_max_position_embeddings=4096),
    ),
    "missing keys": (
        "error",
        "rope_scaling.low_freq_factor",
        "needs low_freq_factor and high_freq_factor .* are missing",
        config({"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 8192}),
        config({"rope_type": "llama3", **LLAMA3}),
    ),
    "missing length": (
        "error",
        "max_position_embeddings",
        "needs max_position_embeddings",
        config({"type": "dynamic", "factor": 2.0}, max_position_embeddings=None),
        config({"type": "dynamic", "factor": 2.0}),
    ),
    "ignored key": (
        "warning",
        "rope_scaling.low_freq_factor",
        "low_freq_factor = 1.0 is ignored by type 'linear'",
        config({"type": "linear", "factor": 2, "low_freq_factor": 1.0}),
        config({"type": "linear", "factor": 2, "low_freq_factor": None}),
    ),
    "misspelt key": (
        "warning",
        "rope_scaling.beta_fats",
        "beta_fats = 16 is ignored by type 'yarn'; did you mean 'beta_fast'?",
        config({**YARN, "beta_fats": 16}),
        config({**YARN, "beta_fast": 16}),
    ),
    "factor disagrees": (
        "warning",
        "rope_scaling.factor",
        "factor 8 disagrees with max_position_embeddings 16384 / .* 4096 = 4",
        config({**YARN, "factor": 8.0}),
        config(YARN),
    ),
    "longrope factor disagrees": (
        "warning",
        "rope_scaling.factor",
        "factor 2 disagrees",
        config({**LONG, "factor": 2}),
        config(LONG),
    ),
    "odd rotated part": (
        "error",
        "partial_rotary_factor",
        "even number of dimensions .* got 3 .* head_dim 4",
        {"head_dim": 4, "partial_rotary_factor": 0.75},
        {"head_dim": 4, "partial_rotary_factor": 0.5},
    ),
    "odd head": (
        "error",
        "head_dim",
        "head_dim must be even to form pairs, got 9",
        {"head_dim": 9},
        {"head_dim": 10},
    ),
    "base twice": (
        "warning",
        "rope_scaling.rope_theta",
        "base is given twice, 10000.0 in rope_scaling.rope_theta and 500000.0 in rope_theta",
        config({**YARN, "rope_theta": 10000.0}),
        config({**YARN, "rope_theta": 500000.0}),
    ),
    "rotated part twice": (
        "warning",
        "rope_scaling.partial_rotary_factor",
        "rotated part is given twice, 0.5 .* and 0.25",
        config({**YARN, "partial_rotary_factor": 0.5}, partial_rotary_factor=0.25),
        config({**YARN, "partial_rotary_factor": 0.5}),
    ),
    "trained length twice": (
        "warning",
        "original_max_position_embeddings",
        "trained length is given twice, 8192 .* and 4096",
        config({**LONG, "factor": 2}, original_max_position_embeddings=8192),
        config({**LONG, "factor": 4}, original_max_position_embeddings=4096),
    ),
    "attention factor cancels": (
        "warning",
        "rope_scaling.attention_factor",
        "attention_factor 1 cancels the default 1.13863 of factor 4",
        config({**YARN, "attention_factor": 1.0}),
        config({**YARN, "attention_factor": 1.2}),
    ),
    "longrope list": (
        "error",
        "rope_scaling.long_factor",
        "one number for each of the 64 pairs .* got 3",
        config({**LONG, "long_factor": [1.0] * 3}),
        config(LONG),
    ),
    "no list": (
        "error",
        "rope_scaling.long_factor",
        "must be a list of numbers, got 2",
        config({**LONG, "long_factor": 2}),
        config(LONG),
    ),
    "a text for a number": (
        "error",
        "rope_scaling.factor",
        "factor must be a number, got the text '4'; remove the quotes",
        config({**YARN, "factor": "4"}),
        config(YARN),
    ),
    "a text in a list": (
        "error",
        "rope_scaling.short_factor[1]",
        "got the text '1'",
        config({**LONG, "short_factor": [1, "1"] * 32}),
        config(LONG),
    ),
    "a text for the base": (
        "error",
        "rope_theta",
        "rope_theta must be a number, got the text '500000'",
        config(rope_theta="500000"),
        config(),
    ),
    "not finite": (
        "error",
        "rope_scaling.factor",
        "finite number of at most 10\\^15, got nan",
        config({**YARN, "factor": float("nan")}),
        config(YARN),
    ),
    "huge": (
        "error",
        "max_position_embeddings",
        "finite number of at most 10\\^15, got a whole number above 10\\^15",
        config(max_position_embeddings=10**6000),
        config(),
    ),
    "out of bounds": (
        "error",
        "rope_theta",
        "base must be between 1 and 1000000000000, got -1",
        config(rope_theta=-1),
        config(),
    ),
    "shrinks": (
        "warning",
        "rope_scaling.factor",
        "factor 0.5 is below 1: it makes the pairs turn 2 times faster",
        config({"type": "linear", "factor": 0.5}),
        config({"type": "linear", "factor": 1}),
    ),
    "trained beyond": (
        "warning",
        "max_position_embeddings",
        "original_max_position_embeddings 32768 is above max_position_embeddings 16384",
        config({**YARN, "original_max_position_embeddings": 32768}),
        config(YARN),
    ),
    "two blocks": (
        "warning",
        "rope_scaling",
        "rope_scaling .* and rope_parameters .* both given and differ",
        config(YARN, rope_parameters={**YARN, "factor": 2}),
        config(YARN, rope_parameters=YARN),
    ),
    "two types": (
        "warning",
        "rope_scaling.type",
        "rope_type 'yarn' and type 'linear' differ; rope_type counts",
        config({**YARN, "type": "linear"}),
        config({**YARN, "type": "yarn"}),
    ),
    "beside blocks": (
        "warning",
        "rope_parameters.factor",
        "factor = 2 stands beside blocks",
        config(rope_parameters={"full_attention": {"rope_type": "default"}, "factor": 2}),
        config(rope_parameters={"full_attention": {"rope_type": "default"}}),
    ),
    "no block": (
        "error",
        "rope_scaling",
        "rope_scaling must be an object .* got 'yarn'",
        config("yarn"),
        config(YARN),
    ),
    "no head": (
        "error",
        "head_dim",
        "give head_dim, or hidden_size and num_attention_heads, got hidden_size",
        {"hidden_size": 4096},
        {"hidden_size": 4096, "num_attention_heads": 32},
    ),
    "no multiple": (
        "error",
        "head_dim",
        "hidden_size 4096 is not a multiple of num_attention_heads 30",
        config(num_attention_heads=30),
        config(num_attention_heads=30, head_dim=128),
    ),
    "no blend": (
        "warning",
        "rope_scaling.high_freq_factor",
        "low_freq_factor and high_freq_factor are both 1: a step, no blend",
        config({"rope_type": "llama3", **LLAMA3, "high_freq_factor": 1.0}),
        config({"rope_type": "llama3", **LLAMA3}),
    ),
    "ramp": (
        "error",
        "rope_scaling.beta_fast",
        "beta_fast must not be below beta_slow, got 1 and 32",
        config({**YARN, "beta_fast": 1, "beta_slow": 32}),
        config({**YARN, "beta_fast": 32, "beta_slow": 1}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_finding_is_found_where_it_is_and_only_there(name: str) -> None:
    severity, key, words, odd, sound = CASES[name]
    findings = read_rope(odd).findings
    matching = [finding for finding in findings if re.search(words, finding.message)]
    assert [(finding.severity, finding.key) for finding in matching] == [(severity, key)]
    assert all(finding.message and finding.reason.endswith(".") for finding in findings)
    assert not [
        finding for finding in read_rope(sound).findings if re.search(words, finding.message)
    ]
    if severity == "error":
        with pytest.raises(pc.EncodingError, match=words):
            pc.rotary_from_config(odd)
    else:
        pc.rotary_from_config(odd)


def test_findings_come_errors_first_and_once() -> None:
    gemma = known_configs()["Gemma 3 4B"]
    odd = {**gemma, "head_dim": "256", "rope_scaling": {**gemma["rope_scaling"], "beta_fast": 3}}
    findings = read_rope(odd).findings
    assert [finding.severity for finding in findings] == ["error", "warning"]
