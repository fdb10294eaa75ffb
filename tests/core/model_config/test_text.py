"""Texts that are a config, and texts that aren't: one clear sentence for each of the latter."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.model_config.known import known_configs
from posembed_core.model_config.text import read_config


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
        ("{'a': 1}", "line 1, column 2: not JSON"),
        ('{"a": 1,}', "line 1, column 9: not JSON"),
        ('{"a": 1\n', "line 2, column 1: not JSON"),
        ('{"a": "' + "x" * 1_000_000 + '"}', "may have 1,000,000 bytes, got 1,000,009"),
        ("é" * 600_000, "may have 1,000,000 bytes"),
        ('{"a": ' * 33 + "1" + "}" * 33, "line 1, column 193: brackets are nested deeper than 32"),
        ("[" * 100_000, "brackets are nested deeper than 32"),
        ('{"a":\n NaN}', "line 2, column 2: NaN is not a number that JSON has"),
        ('{"a": -Infinity}', "line 1, column 7: -Infinity is not a number"),
        ('{"a": 1e999}', "line 1, column 7: '1e999' is too large for a float"),
        ('{"a": ' + "9" * 30 + "}", "line 1, column 7: a whole number of 30 digits"),
        ('{"a": ' + "9" * 900_000 + "}", "a whole number of 900,000 digits"),
        ('{"factor": 1, "factor": 2}', "the key 'factor' is given twice in one object, 1 and 2"),
        ("[1, 2]", r"a JSON object in braces, \{…\}, got a list"),
        ('"text"', "got a text"),
        ("7", "got a number"),
        ("null", "got null"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8 text"),
        (b" " * 2_000_000, "may have 1,000,000 bytes, got 2,000,000"),
    ],
)
def test_bad_texts_get_one_clear_sentence(text: str | bytes, words: str) -> None:
    with pytest.raises(pc.EncodingError, match=words) as caught:
        read_config(text)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_is_a_config_or_an_encoding_error(text: str | bytes) -> None:
    with suppress(pc.EncodingError):
        assert isinstance(read_config(text), dict)
