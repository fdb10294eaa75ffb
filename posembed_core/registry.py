"""Every encoding by its slug: register one, list them, create one."""

from __future__ import annotations

import difflib
from typing import Any, TypeVar

from posembed_core.base import Encoding
from posembed_core.parameters import EncodingError, shown

AnyEncoding = TypeVar("AnyEncoding", bound=type[Encoding])

_classes: dict[str, type[Encoding]] = {}


def register(cls: AnyEncoding) -> AnyEncoding:
    """A class decorator that puts an encoding into the menu; two may not share a slug.

    >>> from dataclasses import dataclass
    >>> from posembed_core.base import AdditiveEncoding
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Second(AdditiveEncoding):
    ...     slug = "sinusoidal"
    >>> register(Second)
    Traceback (most recent call last):
        ...
    posembed_core.parameters.EncodingError: two encodings are called 'sinusoidal'
    """
    if cls.slug in _classes:
        raise EncodingError(f"two encodings are called {cls.slug!r}", field="slug")
    _classes[cls.slug] = cls
    return cls


def encodings() -> dict[str, type[Encoding]]:
    """``{slug: class}`` of every encoding, in order of year, then title.

    >>> import posembed_core as pc
    >>> list(pc.encodings())[:4]
    ['learned', 'sinusoidal', 'shaw', 't5']
    """
    ordered = sorted(_classes.values(), key=lambda cls: (cls.year, cls.title))
    return {cls.slug: cls for cls in ordered}


def create(slug: str, **fields: Any) -> Encoding:
    """The encoding called ``slug`` with these fields; the others keep their defaults.

    Raises `EncodingError` for an unknown slug, an unknown field, or a value that isn't allowed.

    >>> import posembed_core as pc
    >>> pc.create("rope", head_dim=8).rotary_dim
    8
    >>> pc.create("rope", head_dim=7)
    Traceback (most recent call last):
        ...
    posembed_core.parameters.EncodingError: head_dim must be even to form pairs, got 7; try 8
    """
    classes = encodings()
    if slug not in classes:
        close = difflib.get_close_matches(slug, classes, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise EncodingError(
            f"encoding must be one of {', '.join(classes)}, got {shown(slug)}{hint}",
            field="encoding",
            nearest=close[0] if close else None,
        )
    cls = classes[slug]
    known = cls.parameters()
    fields = {cls.aliases.get(name, name): value for name, value in fields.items()}
    for name in fields:
        if name not in known:
            raise EncodingError(
                f"{slug} has no field {name!r}; its fields are {', '.join(known) or 'none'}",
                field=name,
            )
    # Checked here too, so that a list becomes the tuple that the signature promises.
    return cls(**{name: known[name].check(name, value) for name, value in fields.items()})
