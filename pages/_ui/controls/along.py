"""What goes along from page to page: sentence, sizes, scale and encoding, as they were last set.

A page says in a `Shared` under which of its own names it has them. Values are texts, as in a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posembed_core import encodings
from posembed_core.parameters import EncodingError, Parameter

ENCODING = "encoding"
# By the name that all pages share: "length", "scale", …, and "rope.base" for an encoding's field.
Along = dict[str, str]
Params = Mapping[str, str]


class Own(NamedTuple):
    """A setting as one page has it: its name in the page's link, and what it may be."""

    name: str
    parameter: Parameter
    default: Any

    def shown(self, params: Params) -> str:
        """What a link's settings show, as text."""
        return params.get(self.name, self.parameter.format(self.default))

    def nearest(self, text: str) -> str:
        """What the page shows for a value that it may not have."""
        value, _ = read_or_nearest(self.name, self.parameter, text, self.default)
        return self.parameter.format(value)


@dataclass(frozen=True)
class Shared:
    """What one page has of all that goes along, at some settings of its own.

    fields: by the name that all pages share.
    slugs: the encodings shown, in the setting ``encoding``, of which there may be ``most``.
    prefixed: whether an encoding's own fields have its slug before their names in the link.
    """

    fields: Mapping[str, Own] = field(default_factory=dict)
    encoding: str = ""
    slugs: tuple[str, ...] = ()
    most: int = 1
    prefixed: bool | None = None

    def own(self) -> dict[str, Own]:
        """All of them: also the own fields of the encodings shown, where the page asks for them."""
        fields = dict(self.fields)
        for slug in self.slugs:
            fields |= {f"{slug}.{name}": own for name, own in self.of_encoding(slug).items()}
        return fields

    def of_encoding(self, slug: str) -> dict[str, Own]:
        """The own fields of an encoding, by their names."""
        cls = encodings().get(slug)
        if cls is None or self.prefixed is None:
            return {}
        start = f"{slug}." if self.prefixed else ""
        return {
            name: Own(start + name, parameter, cls.__dataclass_fields__[name].default)
            for name, parameter in cls.parameters().items()
            if parameter.role == "option"
        }


NOTHING = Shared()
# What a page shares depends on its other settings.
Sharing = Callable[[Params], Shared]


def nothing(_params: Params) -> Shared:
    """For a page all of whose settings are its own."""
    return NOTHING


def read_or_nearest(
    name: str, parameter: Parameter, text: str, default: Any
) -> tuple[Any, EncodingError | None]:
    """A text's value; where it isn't allowed the nearest one, or the default, and the error."""
    try:
        return parameter.parse(name, text), None
    except EncodingError as error:
        return (default if error.nearest is None else error.nearest), error


def learn(along: Along, sharing: Sharing, before: Params | None, after: Params) -> None:
    """Take over what a page shows now: all that its link names, or else what changed ``before``.

    before: what the page showed until the reader changed something; None for a link, whose defaults
        count as well, once any page has said something else.
    """
    shared, old = sharing(after), NOTHING if before is None else sharing(before)
    known = old.own()
    for name, own in shared.own().items():
        text = own.shown(after)
        if before is None:
            says = own.name in after or name in along
        else:
            says = text != (known[name].shown(before) if name in known else own.shown({}))
        if says:
            along[name] = text
    _learn_encoding(along, shared, None if before is None else old.slugs, after)


def _learn_encoding(
    along: Along, shared: Shared, before: tuple[str, ...] | None, after: Params
) -> None:
    if not shared.encoding:
        return
    known = encodings()
    new = [slug for slug in shared.slugs if slug in known and slug not in (before or ())]
    if before is not None:
        says = bool(new)
    else:
        says = bool(new) and shared.most == 1 and (shared.encoding in after or ENCODING in along)
    if says:
        along[ENCODING] = new[-1]
    elif along.get(ENCODING) not in shared.slugs:
        along.pop(ENCODING, None)  # taken away here, or not in a link


def fill(along: Along, sharing: Sharing, last: Params, told: dict[str, str]) -> dict[str, str]:
    """The settings with which a page goes on: its ``last`` ones, and what goes along.

    What the page can't have stays as it was asked for, and the page shows the nearest and says so;
    but not once more where nothing has changed since that was ``told``.
    """
    params = dict(last)
    shared = sharing(params)
    slug = along.get(ENCODING, "")
    if shared.encoding and slug and slug not in shared.slugs:
        for old in shared.slugs if shared.most == 1 else ():
            for own in shared.of_encoding(old).values():
                params.pop(own.name, None)
        params[shared.encoding] = "_".join((*shared.slugs[: shared.most - 1], slug))
    for name, own in sharing(params).own().items():
        text = along.get(name)
        if text is None or (told.get(name) == text and own.nearest(text) == own.shown(params)):
            continue
        params[own.name] = told[name] = text
    return params
