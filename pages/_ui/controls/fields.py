"""A page's settings as data, for whoever reads a link without drawing the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By a setting's name in the link: its parameter, of whichever class, and its default.
Fields = Mapping[str, tuple[Any, Any]]


def read_fields(fields: Fields, params: Mapping[str, str]) -> dict[str, Any]:
    """The value of each field in a link's ``params``, its default where the link has none.

    Raises `EncodingError` for a value that isn't allowed.
    """
    return {
        name: parameter.parse(name, params[name]) if name in params else default
        for name, (parameter, default) in fields.items()
    }
