"""What a page shows as a short, complete script in plain PyTorch, without this project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    RelativeEncoding,
    RotaryEncoding,
)
from posembed_core.combine import Operation
from posembed_core.position_table import PositionTable
from posembed_core.recipes import Given, Part, has_recipe, has_section, write
from posembed_core.tokens import SentenceModel
from posembed_core.training import TrainingSpec

_FAMILIES: Mapping[Any, str] = {
    AdditiveEncoding: "parts/additive",
    RotaryEncoding: "parts/rotary",
    BiasEncoding: "parts/bias",
    RelativeEncoding: "parts/relative",
}
_PROMISE = "Plain PyTorch; prints what the page shows."


class NoRecipeError(ValueError):
    """There is no script for a setting; the message says so in one sentence."""


@dataclass(frozen=True)
class DrawnTokens:
    """Token vectors as `posembed_core.tokens.random_tokens` draws them."""

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
    """A sentence's words with a drawn vector each, as `posembed_core.words.word_vectors` does."""

    text: str
    embed_dim: int
    seed: int = 123
    std: float = 1.0
    most: int | None = None


Tokens = DrawnTokens | ModelTokens | WordTokens


@dataclass(frozen=True)
class Head:
    """One attention head: its number, and where its projections come from.

    ``seed`` is that of `posembed_core.attention.random_projections`; None takes the weights of the
    tokens' own model, of its ``layer``.
    """

    number: int
    num_heads: int
    head_dim: int
    seed: int | None = 7
    layer: int = 0


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
    """The script of `posembed_core.combine.combine` that prints the vectors at positions ``at``.

    Raises `NoRecipeError` for an encoding without a recipe.
    """
    family, recipe = _family(encoding), _recipe(encoding, tokens)
    given = {
        **_tokens(tokens, sqrt_dim),
        **_fields(encoding, _length(tokens)),
        **_norm(tokens, layer_norm, operation),
        "s": Given(scale, "the scale of position"),
        "operation": Given(operation),
        "head": Given(head, "the first is 0"),
        "at": Given(list(at), "the positions to print"),
    }
    parts = [
        _source(tokens),
        Part(family, ("positions", "width")),
        Part(recipe, ("", "combine"), _heading(encoding)),
        Part(family, ("rotation", "combine")),
        Part("parts/layer_norm", ("combine",)),
        Part(family, ("show",)),
        Part("parts/layer_norm", ("show",)),
        Part("parts/print"),
    ]
    return write(f"{encoding.title}, combined with tokens. {_PROMISE}", parts, given)


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
    """The script of one head of `posembed_core.attention.attend`: scores and softmax of ``at``.

    With a model's own projections, its own LayerNorm comes before them. Raises `NoRecipeError` for
    an encoding without a recipe, and for a model that isn't built like BERT.
    """
    family, recipe = _family(encoding), _recipe(encoding, tokens)
    own = head.seed is None
    if own and not (isinstance(tokens, ModelTokens) and "word_embeddings" in tokens.model.word):
        raise NoRecipeError("There is no script yet for attention with this model's own weights.")
    given = {
        **_tokens(tokens, sqrt_dim),
        **_fields(encoding, _length(tokens)),
        **_norm(tokens, own, "add"),
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
        _source(tokens),
        Part("parts/attention", ("positions",)),
        Part(family, ("width",)),
        Part(recipe, ("",), _heading(encoding)),
        Part(family, ("input",)),
        Part("parts/attention", ("model" if own else "drawn",)),
        Part(recipe, ("attention",)),
        Part(family, ("rotation",)),
        Part(recipe if has_section(recipe, "scores") else family, ("scores",)),
        Part("parts/attention", ("show",)),
    ]
    return write(f"{encoding.title}, in one head of attention. {_PROMISE}", parts, given)


def frequency_script(encoding: RotaryEncoding, seq_len: int) -> str:
    """The script of `posembed_core.long_context.pair_table`: frequencies before and after.

    Raises `NoRecipeError` for an encoding without a recipe.
    """
    given = {
        "seq_len": Given(seq_len, "the length wanted"),
        "rotary_dim": Given(encoding.rotary_dim, "channels that turn"),
        **_fields(encoding, seq_len),
    }
    parts = [
        Part("parts/frequencies", ("positions",)),
        Part(_recipe(encoding), ("",), _heading(encoding)),
        Part("parts/frequencies", ("show",)),
    ]
    return write(f"{encoding.title}: its frequencies, before and after. {_PROMISE}", parts, given)


def training_script(spec: TrainingSpec) -> str:
    """The script of `posembed_core.training.train_table`: the same table, and its losses."""
    given = {
        name: Given(
            spec.length if name == "seq_len" else getattr(spec, name), parameter.label.lower()
        )
        for name, parameter in spec.parameters().items()
    }
    title = f"A position table, trained from noise: {spec.task}. {_PROMISE}"
    return write(title, [Part("parts/training")], given)


def _family(encoding: Encoding) -> str:
    names = [name for family, name in _FAMILIES.items() if isinstance(encoding, family)]
    if not names:
        raise NoRecipeError(f"There is no script yet for {encoding.title}.")
    return names[0]


def _recipe(encoding: Encoding, tokens: Tokens | None = None) -> str:
    name = f"encodings/{encoding.slug.replace('-', '_')}"
    # A table is data: a script finds it only in the model that it reads anyway.
    foreign = isinstance(encoding, PositionTable) and not (
        isinstance(tokens, ModelTokens) and tokens.model.positions is encoding
    )
    if foreign or not has_recipe(name):
        raise NoRecipeError(f"There is no script yet for {encoding.title}.")
    return name


def _heading(encoding: Encoding) -> str:
    first = (type(encoding).__doc__ or "").split("\n")[0]
    return f"{first}\n{encoding.reference}"


def _source(tokens: Tokens) -> Part:
    names = {
        DrawnTokens: "random_tokens",
        ModelTokens: "sentence_tokens",
        WordTokens: "drawn_words",
    }
    return Part(f"parts/{names[type(tokens)]}")


def _length(tokens: Tokens) -> int:
    if isinstance(tokens, DrawnTokens):
        return tokens.seq_len
    if isinstance(tokens, WordTokens):
        count = len(tokens.text.split())
    else:
        count = len(tokens.model.tokenize(tokens.text).ids)
    return count if tokens.most is None else min(count, tokens.most)


def _tokens(tokens: Tokens, sqrt_dim: bool) -> Mapping[str, Given]:
    given = {"sqrt_dim": Given(sqrt_dim), "embed_dim": Given(tokens.embed_dim, "channels")}
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
            tokens.most is not None and _length(replace(tokens, most=None)) > tokens.most
        ),
    }
    if isinstance(tokens, ModelTokens):
        given["folder"] = Given(tokens.model.name)
        given["has_segments"] = Given(tokens.model.segment is not None)
    return given


def _norm(tokens: Tokens, layer_norm: bool, operation: Operation) -> Mapping[str, Given]:
    norm = tokens.model.layer_norm if isinstance(tokens, ModelTokens) else None
    if operation == "concat":
        norm = None
    return {
        "layer_norm": Given(layer_norm),
        "has_weights": Given(norm is not None),
        "eps": Given(1e-5 if norm is None else norm.eps),
    }


def _fields(encoding: Encoding, seq_len: int) -> Mapping[str, Given]:
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
