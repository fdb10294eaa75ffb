"""A config as Python prints it, a dict, turned into JSON."""

from __future__ import annotations

import ast
import json
from typing import Any

# A syntax tree takes about a hundred times the memory of its text.
_MAX_CHARACTERS = 1_000_000


def json_of_python(text: str) -> str | None:
    """The JSON of a Python dict of plain values; None where ``text`` is anything else.

    Nothing is run: only literals are read.

    >>> json_of_python("{'head_dim': 64, 'rope_scaling': None, 'bias': True}")
    '{"head_dim": 64, "rope_scaling": null, "bias": true}'
    >>> json_of_python("{'head_dim': size()}") is None
    True
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    try:
        config: Any = ast.literal_eval(text.strip())
        if not isinstance(config, dict) or not all(isinstance(key, str) for key in config):
            return None
        return json.dumps(config, ensure_ascii=False)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
