"""Any config gives an encoding, or a finding that says why not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.model_config import read_rope

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
block_keys = st.sampled_from(
    [
        "type",
        "rope_type",
        "factor",
        "rope_theta",
        "original_max_position_embeddings",
        "short_factor",
        "long_factor",
        "attention_factor",
        "truncate",
        "beta_fast",
        "mscale",
    ]
)
types = st.sampled_from(["linear", "dynamic", "yarn", "llama3", "longrope", "default"])
outer_keys = st.sampled_from(
    [
        "rope_theta",
        "head_dim",
        "hidden_size",
        "num_attention_heads",
        "partial_rotary_factor",
        "rotary_dim",
        "max_position_embeddings",
        "model_type",
        "rope_parameters",
        "text_config",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    outer=st.dictionaries(outer_keys, anything, max_size=4),
    block=st.dictionaries(block_keys, anything, max_size=5),
    kind=st.none() | types,
)
def test_any_content_gives_findings_or_an_encoding(
    outer: dict[str, Any], block: dict[str, Any], kind: str | None
) -> None:
    if kind is not None:
        block["rope_type"] = kind
    given_config = {"head_dim": 64, "rope_scaling": block, **outer}
    reading = read_rope(given_config)
    errors = {finding.message for finding in reading.findings if finding.severity == "error"}
    assert bool(reading.settings) != bool(errors)
    for layer in reading.layers:
        if layer.error is None:
            assert (
                pc.rotary_from_config(given_config, layer.layer_type)
                == layer.checked_settings().encoding
            )
            continue
        with pytest.raises(pc.EncodingError) as caught:
            pc.rotary_from_config(given_config, layer.layer_type)
        assert str(caught.value) in errors
    if reading.error is not None:
        assert not reading.layers
        with pytest.raises(pc.EncodingError) as caught:
            pc.rotary_from_config(given_config)
        assert {str(caught.value)} == errors
