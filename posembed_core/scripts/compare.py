"""The script of one encoding in the comparison: the numbers of its picture, and of its row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from posembed_core.base import BiasEncoding, Encoding, RelativeEncoding, RotaryEncoding
from posembed_core.scripts.values import (
    PROMISE,
    DrawnTokens,
    family_of,
    given_fields,
    given_tokens,
    heading_of,
    recipe_of,
    source_of,
)
from posembed_core.scripts.writer import Given, Part, has_section, write

CompareView = Literal["picture", "similarity", "norms"]
_SUBTITLES = {
    "picture": "what it contributes",
    "similarity": "the scores that position alone gives",
    "norms": "norms with and without it",
}


def compare_script(
    encoding: Encoding,
    view: CompareView,
    seq_len: int,
    embed_dim: int,
    *,
    head: int = 0,
    at: Sequence[int] = (0,),
) -> str:
    """The script that prints the rows ``at`` of a view of the comparison, and the norms.

    The rows are those of the matrix as the core gives it: positions, queries, or keys as the last
    query sees them. Raises `NoRecipeError` for an encoding without a recipe.

    >>> import posembed_core as pc
    >>> script = compare_script(pc.create("alibi", num_heads=2), "picture", 8, 4)
    >>> "import torch" in script, "posembed" in script
    (True, False)
    """
    tokens, family = DrawnTokens(seq_len, embed_dim), family_of(encoding)
    width = int(getattr(encoding, "head_dim", embed_dim))
    given = {
        **given_tokens(tokens, False),
        **given_fields(encoding, seq_len),
        "s": Given(1.0, "the scale of position"),
        "operation": Given("add"),
        "head": Given(head, "the first is 0"),
        "head_dim": Given(width),
        "softmax_scale": Given(encoding.softmax_scale(width)),
        "scaled": Given(getattr(encoding, "scaled", True)),
        "at": Given(list(at), "the rows to print"),
    }
    in_attention = isinstance(encoding, BiasEncoding | RelativeEncoding)
    parts = [source_of(tokens)]
    if not (in_attention and view == "norms"):
        parts += _vectors(encoding, view)
    if view != "norms":
        name = family.removeprefix("blocks/")
        parts += [Part("blocks/compare", (f"{name} {view}", "show cells"))]
    if in_attention:
        parts += [Part("blocks/compare", ("inside attention",))]
    elif isinstance(encoding, RotaryEncoding):
        parts += [Part(family, ("combine",))]
    else:
        parts += [Part(family, ("combine",)), Part("blocks/compare", ("additive moved",))]
    parts += [Part("blocks/compare", ("show norms",))]
    return write(f"{encoding.title}: {_SUBTITLES[view]}. {PROMISE}", parts, given)


def _vectors(encoding: Encoding, view: CompareView) -> list[Part]:
    """What the encoding computes for a view: vectors, a rotation, a bias, or scores."""
    family, recipe = family_of(encoding), recipe_of(encoding)
    of_last_query = isinstance(encoding, RelativeEncoding) and view == "picture"
    last_query = Part("blocks/compare", ("last query",))
    parts = [
        last_query if of_last_query else Part("blocks/attention", ("positions",)),
        Part(family, ("width",)),
        Part(recipe, ("",), heading_of(encoding)),
    ]
    if of_last_query:
        return [*parts, Part(recipe, ("combine",))]
    if isinstance(encoding, RotaryEncoding):
        parts += [Part(family, ("rotation",))]
    if view == "similarity" and isinstance(encoding, RotaryEncoding | RelativeEncoding):
        parts += [
            Part("blocks/compare", ("ones",)),
            Part(recipe, ("attention",)),
            Part(recipe if has_section(recipe, "scores") else family, ("scores",)),
        ]
    return parts
