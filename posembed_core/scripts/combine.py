"""What a page shows as a short, complete script in plain PyTorch, without this project."""

from __future__ import annotations

from collections.abc import Sequence

from posembed_core.base import Encoding, RotaryEncoding
from posembed_core.operations import Operation
from posembed_core.scripts.values import (
    PROMISE,
    Head,
    Tokens,
    check_own,
    family_of,
    given_fields,
    given_norm,
    given_tokens,
    heading_of,
    length_of,
    projections_of,
    recipe_of,
    source_of,
)
from posembed_core.scripts.writer import Given, Part, has_section, write


def combine_script(
    tokens: Tokens,
    encoding: Encoding,
    *,
    scale: float = 1.0,
    operation: Operation = "add",
    layer_norm: bool = False,
    sqrt_dim: bool = False,
    head: int = 0,
    at: Sequence[int] = (0,),
) -> str:
    """The script of `posembed_core.combine` that prints the vectors at positions ``at``.

    Raises `NoRecipeError` for an encoding without a recipe.

    >>> import posembed_core as pc
    >>> from posembed_core.scripts.values import DrawnTokens
    >>> script = combine_script(DrawnTokens(8, 4), pc.create("alibi", num_heads=2))
    >>> "import torch" in script, "posembed" in script
    (True, False)
    """
    family, recipe = family_of(encoding), recipe_of(encoding, tokens)
    given = {
        **given_tokens(tokens, sqrt_dim),
        **given_fields(encoding, length_of(tokens)),
        **given_norm(tokens, layer_norm, operation),
        "s": Given(scale, "the scale of position"),
        "operation": Given(operation),
        "head": Given(head, "the first is 0"),
        "at": Given(list(at), "the positions to print"),
    }
    parts = [
        source_of(tokens),
        Part(family, ("positions", "width")),
        Part(recipe, ("", "combine"), heading_of(encoding)),
        Part(family, ("rotation", "combine")),
        Part("blocks/layer_norm", ("combine",)),
        Part(family, ("show",)),
        Part("blocks/layer_norm", ("show",)),
        Part("blocks/print"),
    ]
    return write(f"{encoding.title}, combined with tokens. {PROMISE}", parts, given)


def attention_script(
    tokens: Tokens,
    encoding: Encoding,
    head: Head,
    *,
    scale: float = 1.0,
    sqrt_dim: bool = False,
    causal: bool = False,
    temperature: float = 1.0,
    at: Sequence[int] = (0,),
) -> str:
    """The script of one head of `attention.layer.attend`: scores and softmax of ``at``.

    With a model's own projections, its own LayerNorm comes before them. Raises `NoRecipeError` for
    an encoding without a recipe, and for a model that isn't built like BERT.

    >>> import posembed_core as pc
    >>> from posembed_core.scripts.values import DrawnTokens
    >>> rope = pc.create("rope", head_dim=4)
    >>> "softmax" in attention_script(DrawnTokens(8, 4), rope, Head(0, 2, 4))
    True
    """
    family, recipe = family_of(encoding), recipe_of(encoding, tokens)
    own = check_own(tokens, head)
    given = {
        **given_tokens(tokens, sqrt_dim),
        **given_fields(encoding, length_of(tokens)),
        **given_norm(tokens, own, "add"),
        "s": Given(scale, "the scale of position"),
        "head_dim": Given(head.head_dim),
        "num_heads": Given(head.num_heads),
        "head": Given(head.number, "the first is 0"),
        "projection_seed": Given(head.seed),
        "layer": Given(head.layer),
        "causal": Given(causal),
        "temperature": Given(temperature),
        "softmax_scale": Given(encoding.softmax_scale(head.head_dim)),
        "scaled": Given(getattr(encoding, "scaled", True)),
        "at": Given(list(at), "the queries to print"),
    }
    parts = [
        source_of(tokens),
        Part("blocks/attention", ("positions",)),
        Part(family, ("width",)),
        Part(recipe, ("",), heading_of(encoding)),
        Part(family, ("input",)),
        Part("blocks/attention", projections_of(own)),
        Part(recipe, ("attention",)),
        Part(family, ("rotation",)),
        Part(recipe if has_section(recipe, "scores") else family, ("scores",)),
        Part("blocks/attention", ("show",)),
    ]
    return write(f"{encoding.title}, in one head of attention. {PROMISE}", parts, given)


def frequency_script(encoding: RotaryEncoding, seq_len: int) -> str:
    """The script of `posembed_core.long_context.pairs.pair_table`: frequencies before and after.

    Raises `NoRecipeError` for an encoding without a recipe.

    >>> import posembed_core as pc
    >>> "rotary_dim = 4" in frequency_script(pc.create("rope", head_dim=4), 8)
    True
    """
    given = {
        "seq_len": Given(seq_len, "the length wanted"),
        "rotary_dim": Given(encoding.rotary_dim, "dimensions that turn"),
        **given_fields(encoding, seq_len),
    }
    parts = [
        Part("blocks/frequencies", ("positions",)),
        Part(recipe_of(encoding), ("",), heading_of(encoding)),
        Part("blocks/frequencies", ("show",)),
    ]
    return write(f"{encoding.title}: its frequencies, before and after. {PROMISE}", parts, given)
