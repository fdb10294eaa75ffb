"""A config.json from outside, as text: read within limits, and refused in one clear sentence."""

from __future__ import annotations

import json
import re
from typing import Any

from posembed_core.model_config.python_dict import json_of_python
from posembed_core.parameters import EncodingError, shown

MAX_BYTES = 8 * 2**20
MAX_DEPTH = 32
MAX_DIGITS = 25

# Tokens to check before json reads them; strings are matched only to be skipped. NaN, Infinity and
# numbers that overflow may stand in keys that aren't read; those that are read check their own.
# A string without an end is one token, too, so that no part of it is looked at twice.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]|-?\d[\d.eE+-]*+', re.DOTALL)


class PythonDictError(EncodingError):
    """The text is a Python dict and no JSON; ``as_json`` is the same config as JSON."""

    def __init__(self, message: str, as_json: str) -> None:
        super().__init__(message)
        self.as_json = as_json


def read_config(text: str | bytes) -> dict[str, Any]:
    """The JSON object in ``text``.

    Raises `EncodingError` with the line and column where there is one: more than 8 MB, no UTF-8, no
    JSON, no object, brackets nested deeper than 32, a key given twice in one object, a number with
    more than 25 digits before its point. A Python dict is a `PythonDictError`, which has the JSON.
    NaN, Infinity and 1e999 are read as Python's own json reads them.

    >>> read_config('{"head_dim": 64}')
    {'head_dim': 64}
    """
    text = _decoded(text)
    _check_tokens(text)
    try:
        config = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        place, problem = _place(text, error.pos), error.msg[0].lower() + error.msg[1:]
        as_json = json_of_python(text)
        if as_json is not None:
            raise PythonDictError(
                f"{place}: not JSON but a Python dict; json.dumps writes it as JSON", as_json
            ) from error
        raise EncodingError(f"{place}: not JSON, {problem}") from error
    if not isinstance(config, dict):
        raise EncodingError(
            f"a config is a JSON object in braces, {{…}}, got {_kind(config)}: {shown(config)}"
        )
    return config


def _decoded(text: str | bytes) -> str:
    size = len(text)
    if isinstance(text, bytes) and size <= MAX_BYTES:
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise EncodingError(
                f"byte {error.start:,} is not UTF-8 text; save the config as UTF-8 JSON"
            ) from error
    if isinstance(text, bytes) or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise EncodingError(
            f"a config may have {MAX_BYTES:,} bytes, got {size:,}; paste the config.json alone"
        )
    if not text.strip():
        raise EncodingError("the config is empty; paste a config.json, it starts with {")
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def _check_tokens(text: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        word, start = token.group(), token.start()
        if word in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise EncodingError(
                    f"{_place(text, start)}: brackets are nested deeper than {MAX_DEPTH}"
                )
        elif word in "]}":
            depth -= 1
        elif word[0] != '"':
            _check_number(text, word, start)


def _check_number(text: str, word: str, start: int) -> None:
    digits = re.match(r"-?(\d+)", word)
    if digits and len(digits.group(1)) > MAX_DIGITS:
        raise EncodingError(
            f"{_place(text, start)}: a whole number of {len(digits.group(1)):,} digits is more "
            f"than any setting has; give at most {MAX_DIGITS} digits"
        )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            raise EncodingError(
                f"the key {shown(key)} is given twice in one object, {shown(unique[key])} and "
                f"{shown(value)}; keep one of them",
                field=key,
            )
        unique[key] = value
    return unique


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return f"line {line:,}, column {column:,}"


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(
        type(value), "a number"
    )
