"""Texts that are a config, and texts that aren't: one clear sentence for each of the latter."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.model_config import read_rope
from posembed_core.model_config.known import known_configs
from posembed_core.model_config.text import _TOKEN, PythonDictError, read_config


def test_a_config_is_read_from_text_or_bytes() -> None:
    for name, known in known_configs().items():
        text = json.dumps(known, indent=2)
        assert read_config(text) == known, name
        assert read_config(b"\xef\xbb\xbf" + text.encode()) == known
    assert read_config('{"a": "NaN [[[{ 1e999", "b": "\\"NaN"}') == {
        "a": "NaN [[[{ 1e999",
        "b": '"NaN',
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the config is empty"),
        ('{"a": 1,\n  "b": [1, 2,}', "line 2, column 14: not JSON"),
        ('{"a": tru}', "line 1, column 7: not JSON"),
        ("{'a': 1}", "line 1, column 2: not JSON but a Python dict"),
        ("{'a': f()}", "line 1, column 2: not JSON, expecting"),
        ('{"a": 1,}', "line 1, column 9: not JSON"),
        ('{"a": 1\n', "line 2, column 1: not JSON"),
        ('{"a": "' + "x" * 2**23 + '"}', "may have 8,388,608 bytes, got 8,388,617"),
        ("é" * (2**22 + 1), "may have 8,388,608 bytes"),
        ('{"a": ' * 33 + "1" + "}" * 33, "line 1, column 193: brackets are nested deeper than 32"),
        ("[" * 100_000, "brackets are nested deeper than 32"),
        ('{"a": ' + "9" * 30 + "}", "line 1, column 7: a whole number of 30 digits"),
        ('{"a": ' + "9" * 900_000 + "}", "a whole number of 900,000 digits"),
        ('{"factor": 1, "factor": 2}', "the key 'factor' is given twice in one object, 1 and 2"),
        ("[1, 2]", r"a JSON object in braces, \{…\}, got a list"),
        ('"text"', "got a text"),
        ("7", "got a number"),
        ("null", "got null"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8 text"),
        (b" " * 9_000_000, "may have 8,388,608 bytes, got 9,000,000"),
    ],
)
def test_bad_texts_get_one_clear_sentence(text: str | bytes, words: str) -> None:
    with pytest.raises(pc.EncodingError, match=words) as caught:
        read_config(text)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN", "1e308", "-1e308", "1e999"])
def test_a_number_in_a_key_that_is_not_read_stops_nothing(value: str) -> None:
    text = f'{{"head_dim": 64, "rope_theta": 5e5, "time_step_limit": [0.0, {value}]}}'
    config = read_config(text)
    assert pc.rotary_from_config(config).base == 5e5
    assert not read_rope(config).findings
    # The file as one has it on disk again.
    assert str(read_config(json.dumps(config))) == str(config)


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN", "1e308", "1e999"])
@pytest.mark.parametrize(
    "text",
    [
        '{"head_dim": VALUE}',
        '{"head_dim": 64, "rope_theta": VALUE}',
        '{"hidden_size": VALUE, "num_attention_heads": 32}',
        '{"head_dim": 64, "max_position_embeddings": VALUE}',
        '{"head_dim": 64, "partial_rotary_factor": VALUE}',
        '{"head_dim": 64, "rope_scaling": {"type": "linear", "factor": VALUE}}',
    ],
)
def test_such_a_number_in_a_key_that_is_read_is_an_error(text: str, value: str) -> None:
    (finding,) = read_rope(read_config(text.replace("VALUE", value))).findings
    assert finding.severity == "error"
    assert "must be" in finding.message


@pytest.mark.parametrize("name", known_configs())
def test_a_python_dict_is_said_to_be_one_and_offered_as_json(name: str) -> None:
    config = known_configs()[name] | {"tie": True, "bos": None, "sizes": (1, 2)}
    with pytest.raises(PythonDictError, match="a Python dict") as caught:
        read_config(repr(config))
    assert read_config(caught.value.as_json) == config | {"sizes": [1, 2]}


@pytest.mark.parametrize(
    "text", ["{'a': {1, 2}}", "{'a': b'x'}", "{'a': 2j}", "{1: 2}", "{'a'}", "['a']", "{" * 30]
)
def test_python_that_is_no_config_is_not_offered(text: str) -> None:
    with pytest.raises(pc.EncodingError) as caught:
        read_config(text)
    assert not isinstance(caught.value, PythonDictError)


def test_a_string_without_an_end_is_looked_at_once() -> None:
    # As many tokens as strings end, however many quotation marks follow.
    tokens = list(_TOKEN.finditer('{"a": "' + '\\"' * 1000))
    assert [len(token.group()) for token in tokens] == [1, 3, 2001]


def test_a_file_of_8_mb_is_read() -> None:
    text = json.dumps({"head_dim": 64, "merges": ["ab"] * 1_300_000})
    assert 7_500_000 < len(text) < 2**23
    assert pc.rotary_from_config(read_config(text.encode())).head_dim == 64


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_is_a_config_or_an_encoding_error(text: str | bytes) -> None:
    with suppress(pc.EncodingError):
        assert isinstance(read_config(text), dict)
