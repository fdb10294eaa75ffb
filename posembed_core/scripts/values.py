"""What all scripts need: tokens, heads, encodings, and the values to fill in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    RelativeEncoding,
    RotaryEncoding,
)
from posembed_core.operations import Operation
from posembed_core.scripts.writer import Given, Part, has_recipe
from posembed_core.tables.position_table import PositionTable
from posembed_core.tokens.sentence_model import SentenceModel

PROMISE = "Plain PyTorch; prints what the page shows."
_FAMILIES: Mapping[Any, str] = {
    AdditiveEncoding: "blocks/additive",
    RotaryEncoding: "blocks/rotary",
    BiasEncoding: "blocks/bias",
    RelativeEncoding: "blocks/relative",
}


class NoRecipeError(ValueError):
    """There is no script for a setting; the message says so in one sentence."""


@dataclass(frozen=True)
class DrawnTokens:
    """Token vectors as `posembed_core.tokens.random_tokens.random_tokens` draws them."""

    seq_len: int
    embed_dim: int
    seed: int = 123
    std: float = 0.5
    skip: int = 0


@dataclass(frozen=True)
class ModelTokens:
    """A sentence's token vectors in a model."""

    text: str
    model: SentenceModel
    most: int | None = None  # how many tokens are read, None for all

    @property
    def embed_dim(self) -> int:
        """The width of the model."""
        return self.model.embed_dim


@dataclass(frozen=True)
class WordTokens:
    """A sentence's words with a drawn vector each, as `tokens.words.word_vectors` does."""

    text: str
    embed_dim: int
    seed: int = 123
    std: float = 1.0
    most: int | None = None


Tokens = DrawnTokens | ModelTokens | WordTokens


@dataclass(frozen=True)
class Head:
    """One attention head: its number, and where its projections come from.

    ``seed`` is that of `attention.layer.random_projections`; None takes the weights of the
    tokens' own model, of its ``layer``.
    """

    number: int
    num_heads: int
    head_dim: int
    seed: int | None = 7
    layer: int = 0


def family_of(encoding: Encoding) -> str:
    """The recipe file of the encoding's family. Raises `NoRecipeError` where there is none.

    >>> import posembed_core as pc
    >>> family_of(pc.create("alibi"))
    'blocks/bias'
    """
    names = [name for family, name in _FAMILIES.items() if isinstance(encoding, family)]
    if not names:
        raise NoRecipeError(f"There is no script yet for {encoding.title}.")
    return names[0]


def recipe_of(encoding: Encoding, tokens: Tokens | None = None) -> str:
    """The recipe file of the encoding. Raises `NoRecipeError` where there is none.

    >>> import posembed_core as pc
    >>> recipe_of(pc.create("rope-yarn"))
    'recipes/rope_yarn'
    """
    name = f"recipes/{encoding.slug.replace('-', '_')}"
    # A table is data: a script can find it only in a model that it loads anyway.
    foreign = isinstance(encoding, PositionTable) and not (
        isinstance(tokens, ModelTokens) and tokens.model.positions is encoding
    )
    if foreign or not has_recipe(name):
        raise NoRecipeError(f"There is no script yet for {encoding.title}.")
    return name


def heading_of(encoding: Encoding) -> str:
    """What stands above an encoding's recipe: what it is, and its paper.

    >>> import posembed_core as pc
    >>> print(heading_of(pc.create("none")).splitlines()[0])
    p_i = 0: h = e, and without a mask attention cannot tell the order of the words.
    """
    first = (type(encoding).__doc__ or "").split("\n")[0]
    return f"{first}\n{encoding.reference}"


def source_of(tokens: Tokens) -> Part:
    """Where the token vectors e come from.

    >>> source_of(DrawnTokens(8, 4)).file
    'blocks/random_tokens'
    """
    names = {
        DrawnTokens: "random_tokens",
        ModelTokens: "sentence_tokens",
        WordTokens: "drawn_words",
    }
    return Part(f"blocks/{names[type(tokens)]}")


def check_own(tokens: Tokens, head: Head) -> bool:
    """Whether a head has the weights of the tokens' own model; `NoRecipeError` for unknown ones.

    >>> check_own(DrawnTokens(8, 4), Head(0, 2, 4))
    False
    """
    own = head.seed is None
    if own and not (isinstance(tokens, ModelTokens) and "word_embeddings" in tokens.model.word):
        raise NoRecipeError("There is no script yet for attention with this model's own weights.")
    return own


def projections_of(own: bool) -> tuple[str, ...]:
    """The sections that make q and k of x: with the model's ``own`` weights, or with drawn ones.

    >>> projections_of(own=False)
    ('drawn weights', 'drawn')
    """
    return ("model norm", "model weights", "model") if own else ("drawn weights", "drawn")


def length_of(tokens: Tokens) -> int:
    """How many tokens there are.

    >>> length_of(WordTokens("dog bites man", 4))
    3
    """
    if isinstance(tokens, DrawnTokens):
        return tokens.seq_len
    if isinstance(tokens, WordTokens):
        count = len(tokens.text.split())
    else:
        count = len(tokens.model.tokenize(tokens.text).ids)
    return count if tokens.most is None else min(count, tokens.most)


def given_tokens(tokens: Tokens, sqrt_dim: bool) -> Mapping[str, Given]:
    """The values that the tokens' recipe needs.

    >>> given_tokens(DrawnTokens(8, 4), sqrt_dim=False)["seq_len"]
    Given(value=8, label='positions')
    """
    given = {"sqrt_dim": Given(sqrt_dim), "embed_dim": Given(tokens.embed_dim, "dimensions")}
    if not isinstance(tokens, ModelTokens):
        given |= {"token_seed": Given(tokens.seed), "token_std": Given(tokens.std)}
    if isinstance(tokens, DrawnTokens):
        return {
            "seq_len": Given(tokens.seq_len, "positions"),
            **given,
            "token_skip": Given(tokens.skip),
        }
    given |= {
        "text": Given(tokens.text),
        "most_tokens": Given(tokens.most),
        "is_cut": Given(
            tokens.most is not None and length_of(replace(tokens, most=None)) > tokens.most
        ),
    }
    if isinstance(tokens, ModelTokens):
        given["folder"] = Given(tokens.model.name)
        given["has_segments"] = Given(tokens.model.segment is not None)
    return given


def given_norm(tokens: Tokens, layer_norm: bool, operation: Operation) -> Mapping[str, Given]:
    """The values that a LayerNorm's recipe needs.

    >>> given_norm(DrawnTokens(8, 4), True, "add")["eps"]
    Given(value=1e-05, label='')
    """
    norm = tokens.model.layer_norm if isinstance(tokens, ModelTokens) else None
    if operation == "concat":
        norm = None
    return {
        "layer_norm": Given(layer_norm),
        "has_weights": Given(norm is not None),
        "eps": Given(1e-5 if norm is None else norm.eps),
    }


def given_fields(encoding: Encoding, seq_len: int) -> Mapping[str, Given]:
    """The values that an encoding's recipe needs, for a sequence of ``seq_len`` tokens.

    >>> import posembed_core as pc
    >>> given_fields(pc.create("rope", head_dim=4), 8)["base"].value
    10000.0
    """
    fields = {
        name: Given(
            getattr(encoding, name), parameter.label.lower() if parameter.role == "option" else ""
        )
        for name, parameter in encoding.parameters().items()
        if parameter.role != "length"
    }
    if isinstance(encoding, PositionTable):
        fields = {"offset": Given(encoding.offset)}
    if isinstance(encoding, RotaryEncoding):
        factor = encoding.attention_factor(seq_len)
        fields["attention_factor"] = Given(factor)
        fields["has_attention_factor"] = Given(factor != 1.0)
    return fields
