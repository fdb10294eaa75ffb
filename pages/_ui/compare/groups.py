"""What stands together: encodings by the door that position enters by, and those of one kind."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from pages._ui.controls.controls import sizes
from pages._ui.families import DOORS, door_heading
from posembed_core import Encoding, RotaryEncoding, create, encodings

NUM_HEADS = 8
# Scaled rotations differ beyond the trained length: there they are shown, at all the positions.
SHOWN, TRAINED = 256, 64
FACTOR = SHOWN / TRAINED
_TURNED = f"Door 3, turned: {SHOWN} positions, {TRAINED} trained"


def group_of(slug: str) -> str:
    """The heading that an encoding stands under."""
    cls = encodings()[slug]
    return _TURNED if issubclass(cls, RotaryEncoding) else door_heading(cls.door)


def groups() -> dict[str, tuple[str, ...]]:
    """The encodings under each heading, in the order of the doors."""
    doors = list(DOORS)
    known = encodings()

    def place(slug: str) -> tuple[int, bool]:
        door = known[slug].door
        rank = doors.index(door) if door in doors else len(doors)
        return rank, issubclass(known[slug], RotaryEncoding)

    grouped: dict[str, tuple[str, ...]] = {}
    for slug in sorted(known, key=place):
        heading = group_of(slug)
        grouped[heading] = (*grouped.get(heading, ()), slug)
    return grouped


def one_of_each() -> tuple[str, ...]:
    """One encoding of each kind, if possible one that nothing need be trained for; all scalings."""
    known, chosen = encodings(), []
    for heading, slugs in groups().items():
        if heading == _TURNED:  # those whose scores follow from how fast each pair turns
            chosen += [slug for slug in slugs if known[slug].scores is RotaryEncoding.scores]
        else:
            chosen.append(min(slugs, key=lambda slug: sized(slug, 16, 16).parameter_count > 0))
    return tuple(chosen)


def sized(slug: str, length: int, dimension: int) -> Encoding:
    """The encoding in these sizes; a scaled rotation as it is beyond its trained length."""
    cls = encodings()[slug]
    scaled = {
        "num_heads": NUM_HEADS,
        "factor": FACTOR,
        "original_max_position_embeddings": TRAINED,
        "long_factor": _growing(dimension // 2),
    }
    fields = {name: value for name, value in scaled.items() if name in cls.parameters()}
    return create(slug, **sizes(cls, length, dimension), **fields)


def length_of(encoding: Encoding, length: int) -> int:
    """How many positions are shown of it."""
    return SHOWN if isinstance(encoding, RotaryEncoding) else length


def short_title(slug: str) -> str:
    """The title without what stands in brackets."""
    return encodings()[slug].title.partition(" (")[0]


def combine_link(slug: str, length: int, dimension: int, head: int) -> dict[str, str]:
    """The landing page's settings that show this very encoding; ``head`` is counted from 0."""
    encoding = sized(slug, length, dimension)
    fields = {
        name: parameter.format(value)
        for name, parameter in encoding.parameters().items()
        if parameter.role == "option"
        and (value := getattr(encoding, name)) != type(encoding).__dataclass_fields__[name].default
    }
    shown = {"length": f"{length_of(encoding, length)}", "dimension": f"{dimension}"}
    heads = {"head": f"{head + 1}"} if "num_heads" in encoding.parameters() else {}
    return {"encoding": slug, **shown, **heads, **fields}


def text_of_link(params: Mapping[str, str]) -> str:
    """The landing page with these settings, as seen from this one."""
    return f"./?{urlencode(params)}"


def _growing(pairs: int) -> tuple[float, ...]:
    """LongRoPE searches its factors; these grow evenly from 1 to the factor, the slowest's."""
    last = max(pairs - 1, 1)
    return tuple(round(FACTOR ** (pair / last), 3) for pair in range(pairs))
