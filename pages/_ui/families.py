"""How the pages speak of each family of encodings: one table instead of asking for classes."""

from __future__ import annotations

from dataclasses import dataclass

from posembed_core import AdditiveEncoding, BiasEncoding, Encoding, RelativeEncoding, RotaryEncoding


@dataclass(frozen=True)
class MiddlePicture:
    """The picture between those of e and h: what position contributes.

    ``heading`` and ``about`` (what its array is called in a file) may name the ``{head}``, counted
    from 1. ``symbol`` stands for one of its values; ``across`` and ``up`` name its axes.
    ``own_scale``: its values are no components of vectors, so it has colours of its own.
    ``array`` is the name of its file.
    """

    heading: str
    symbol: str
    about: str
    across: str = "position"
    up: str = "dimension"
    own_scale: bool = False
    array: str = "position"


@dataclass(frozen=True)
class FamilyWords:
    """What the pages say of one family of encodings.

    ``acts`` says where position enters, in a few words (of an encoding, ask `where_it_acts`).
    ``equation`` is what h is, of ``{e}``, ``{p}`` and the operation's sign ``{join}``; ``position``
    is the TeX of its ``{p}``. ``elsewhere`` says in a few words where position enters instead (of
    an encoding, ask `enters_elsewhere`). ``signs`` stand between the pictures of the landing page.
    ``role`` says of an encoding's ``{title}`` what it does to the vectors; empty where nothing
    needs saying. ``layer_input`` is what goes into an attention layer, of ``{e}`` and ``{p}``.
    ``score_step`` is the step from ``q · k`` to the score, of where it ``{acts}``, the turned
    ``{q}`` and ``{k}``, and the ``{part}`` of the score that comes from position.
    """

    acts: str
    equation: str
    signs: tuple[str, str]
    middle: MiddlePicture
    role: str
    score_step: str
    position: str = r"$s\cdot p$"
    elsewhere: str = ""
    layer_input: str = "{e}"


_ADDS_TO_THE_SCORE = "Position acts {acts}; it adds {part} to the score."
_CONTRIBUTES = MiddlePicture(
    heading="scale · position s·p", symbol="s·p", about="vectors of position, scale times p"
)

_WORDS: dict[type, FamilyWords] = {
    AdditiveEncoding: FamilyWords(
        acts="in the input, added to the tokens",
        equation="{e} {join} {p}",
        signs=("{join}", "="),
        middle=_CONTRIBUTES,
        role="",
        score_step="Position acts {acts}; q and k contain it already.",
        layer_input="{e} + {p}",
    ),
    RotaryEncoding: FamilyWords(
        acts="in the projections: q and k are turned",
        equation="{p} {e}",
        position=r"$R(s\cdot i)$",
        signs=("R(s·i)", "="),
        middle=MiddlePicture(
            heading="rotation: cos of the angle",
            symbol="cos",
            about="cosine of the angle by which each dimension's pair is turned",
            own_scale=True,
        ),
        role=(
            "{title} turns each pair of dimensions by an angle that grows with the position: "
            "nothing is added. In a model it turns queries and keys. Here ‖s·p‖ is ‖h − e‖."
        ),
        score_step="Position acts {acts}, to {q} and {k}; that changes the score by {part}.",
    ),
    BiasEncoding: FamilyWords(
        acts="in the scores, as a bias",
        equation="{e}",
        elsewhere="position enters the scores",
        signs=("", ""),
        middle=MiddlePicture(
            heading="score bias of head {head}",
            symbol="s·b",
            about="score bias of head {head}, query × key, scale times b",
            across="key",
            up="query",
            own_scale=True,
            array="bias",
        ),
        role=(
            "{title} leaves the vectors as they are, h = e, and adds a bias to the attention "
            "scores: the middle picture, query × key."
        ),
        score_step=_ADDS_TO_THE_SCORE,
    ),
    RelativeEncoding: FamilyWords(
        acts="in the projections: vectors for distances join q and k",
        equation="{e}",
        elsewhere="position enters queries and keys",
        signs=("", ""),
        middle=MiddlePicture(
            heading="relative vectors at query 0",
            symbol="s·a",
            about="relative vectors of each key, as the query at 0 sees them",
            across="key",
        ),
        role=(
            "{title} leaves the vectors as they are, h = e: vectors for relative positions join "
            "the queries and keys inside attention."
        ),
        score_step=_ADDS_TO_THE_SCORE,
    ),
    # An encoding of a family of its own.
    Encoding: FamilyWords(
        acts="in the {door}",
        equation="{e}",
        signs=("", ""),
        middle=_CONTRIBUTES,
        role="",
        score_step=_ADDS_TO_THE_SCORE,
    ),
}


# Where position enters, by an encoding's ``door``, in the order of a walk through a Transformer.
DOORS = {
    "none": "No position",
    "input": "Door 1: the input",
    "scores": "Door 2: the scores",
    "projections": "Door 3: the projections",
}


def door_heading(door: str) -> str:
    """The door in words, also one that is new."""
    return DOORS.get(door, f"Another door: {door}")


def words_of(encoding: Encoding | type[Encoding]) -> FamilyWords:
    """What is said of the family that an encoding, or a class of encodings, belongs to."""
    cls = encoding if isinstance(encoding, type) else type(encoding)
    return next(_WORDS[base] for base in cls.__mro__ if base in _WORDS)


def enters_elsewhere(cls: type[Encoding]) -> str:
    """Where position enters that the equation of h doesn't show; empty if it shows all."""
    if issubclass(cls, RotaryEncoding) and cls.acts_on_scores:
        return "position enters the scores, too"
    return words_of(cls).elsewhere


def where_it_acts(encoding: Encoding | type[Encoding]) -> str:
    """Where position enters, in a few words."""
    door = encoding.door
    return "nowhere" if door == "none" else words_of(encoding).acts.format(door=door)
