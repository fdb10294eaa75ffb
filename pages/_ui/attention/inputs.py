"""What the attention page computes from: words, weights, and the encodings to compare."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cachetools import cached
from jaxtyping import Bool, Float
from torch import Tensor

from pages._ui.server.installed_model import needed_model, sentence
from pages._ui.server.kept import kept
from posembed_core import BiasEncoding, CheckpointError, Encoding, EncodingError, create, encodings
from posembed_core.attention.experiments import (
    FourTerms,
    ShiftTest,
    four_terms,
    shift_test,
)
from posembed_core.attention.explain import WeightArithmetic, explain_weight
from posembed_core.attention.layer import Projections, attend, random_projections, softmax_weights
from posembed_core.attention.shuffle import PermutationTest, next_seed, permutation_test
from posembed_core.operations import LayerNorm
from posembed_core.tables.position_table import PositionTable
from posembed_core.tokens.projections import read_projections
from posembed_core.tokens.words import split_words, word_vectors

OWN_TABLE = "model"  # in the menu of encodings: the installed model's position table
MOST_TOKENS = 128
# The shape of all-MiniLM-L6-v2's attention, for random vectors as well.
EMBED_DIM, NUM_HEADS, ROWS = 384, 12, 512


@dataclass(frozen=True)
class Scene:
    """Which words attend with which weights: all that the encodings have in common.

    ``real`` takes an installed model's words and first-layer weights; else both are seeded normal
    draws of the same shape. ``sqrt_dim`` multiplies words by sqrt(embed_dim), as Vaswani et al.
    (2017, section 3.4) do before they add positions; a table that was trained with these words
    meets them as they are.
    """

    real: bool
    text: str
    seed: int = 123
    sqrt_dim: bool = True


@dataclass(frozen=True, eq=False)
class Inputs:
    """The tensors of a scene; ``tokens`` spells the words, ``left_out`` counts those cut off.

    ``special`` are the slots of [CLS] and [SEP], or what the model has instead.
    """

    tokens: tuple[str, ...]
    vectors: Float[Tensor, "n embed_dim"]
    real: bool
    layer_norm: LayerNorm | None
    sqrt_dim: bool
    left_out: int = 0
    special: tuple[int, ...] = ()

    @property
    def projections(self) -> Projections:
        """The layer's weights: the same for all scenes, so none holds them itself."""
        return _real_projections() if self.real else _drawn_projections()

    @property
    def stays(self) -> list[str]:
        """The tokens that keep their slots in a shuffle."""
        return [self.tokens[slot] for slot in self.special]

    def multiplied(self, encoding: Encoding) -> bool:
        """Whether words are multiplied by the root of their dimension for this encoding."""
        return self.sqrt_dim and not isinstance(encoding, PositionTable)

    def before(self, encoding: Encoding) -> Float[Tensor, "n embed_dim"]:
        """The word vectors as this encoding meets them."""
        factor = self.vectors.shape[1] ** 0.5 if self.multiplied(encoding) else 1.0
        return self.vectors * factor


@kept()
def inputs(scene: Scene) -> Inputs:
    """The scene's tensors.

    Raises `CheckpointError` where a model is needed and isn't installed, or has no attention layer
    that can be read; `EncodingError` for a text without a word.
    """
    if scene.real:
        model = needed_model()
        read = sentence(scene.text)
        count = min(len(read.ids), MOST_TOKENS, model.max_seq_len)
        taken = read.first(count)
        vectors, norm = model.embed(taken), model.layer_norm
        _real_projections()  # refuses a model without them
    else:
        read = split_words(scene.text)
        if not read.ids:
            raise EncodingError("the sentence has no words; write at least one", field="text")
        taken = read.first(MOST_TOKENS)
        # As large as after a multiplication by the root of the dimension, unless that is off.
        std = EMBED_DIM**-0.5
        vectors, norm = word_vectors(taken, EMBED_DIM, scene.seed, std), None
    return Inputs(
        tokens=taken.tokens,
        vectors=vectors,
        real=scene.real,
        layer_norm=norm,
        sqrt_dim=scene.sqrt_dim,
        left_out=len(read.ids) - len(taken.ids),
        special=taken.special,
    )


@cached({}, condition=threading.Condition())
def _real_projections() -> Projections:
    return read_projections(needed_model().folder)


@cached({}, condition=threading.Condition())
def _drawn_projections() -> Projections:
    return random_projections(EMBED_DIM, NUM_HEADS)


def column(slug: str, fields: Mapping[str, Any], projections: Projections) -> Encoding:
    """The encoding in the sizes of the projections; `EncodingError` where fields don't fit."""
    if slug == OWN_TABLE:
        return needed_model().positions
    widths = {
        "embed_dim": projections.embed_dim,
        "head_dim": projections.head_dim,
        "num_heads": projections.num_heads,
    }
    sizes = {}
    for name, parameter in encodings()[slug].parameters().items():
        if name in widths:
            sizes[name] = widths[name]
        elif parameter.role == "length":
            sizes[name] = ROWS
    return create(slug, **fields, **sizes)


@dataclass(frozen=True, eq=False)
class Seen:
    """One head of attention: scores before mask and temperature, weights after."""

    scores: Float[Tensor, "n n"]
    allowed: Bool[Tensor, "n n"]
    weights: Float[Tensor, "n n"]


def attention(
    scene: Scene, encoding: Encoding, head: int, scale: float, causal: bool, temperature: float
) -> Seen:
    """One head of the scene's attention with this encoding."""
    seen = _head(scene, encoding, head, scale, causal)
    weights = softmax_weights(seen.scores, seen.allowed, temperature)
    return Seen(seen.scores, seen.allowed, weights)


# What the temperature leaves alone, so that dragging it costs a softmax.
@kept()
def _head(scene: Scene, encoding: Encoding, head: int, scale: float, causal: bool) -> Seen:
    given = inputs(scene)
    # A score bias has a number for each head of the layer; the others work head by head.
    together = isinstance(encoding, BiasEncoding)
    projections = given.projections
    heads = attend(
        given.before(encoding),
        encoding,
        projections if together else projections.heads(slice(head, head + 1)),
        scale=scale,
        causal=causal,
        layer_norm=given.layer_norm,
    )
    which = head if together else 0
    return Seen(heads.scores[which], heads.allowed, heads.weights[which])


def explained(
    scene: Scene,
    encoding: Encoding,
    cell: tuple[int, int, int],
    scale: float,
    causal: bool,
    temperature: float,
) -> WeightArithmetic:
    """The arithmetic of the weight (head, query, key), in float64."""
    given = inputs(scene)
    head, query, key = cell
    return explain_weight(
        given.before(encoding).double(),
        encoding,
        given.projections,
        head=head,
        query=query,
        key=key,
        scale=scale,
        causal=causal,
        temperature=temperature,
        layer_norm=_double(given.layer_norm),
    )


@kept()
def shuffled(
    scene: Scene, encoding: Encoding, seed: int, scale: float, causal: bool, temperature: float
) -> PermutationTest:
    """The shuffle test in float64, so that rounding stays out of the way; [CLS] and [SEP] stay."""
    given = inputs(scene)
    return permutation_test(
        given.before(encoding).double(),
        encoding,
        given.projections,
        seed=seed,
        fixed=given.special,
        scale=scale,
        causal=causal,
        temperature=temperature,
        layer_norm=_double(given.layer_norm),
    )


@kept()
def seed_after(scene: Scene, seed: int) -> int | None:
    """The seed of the next other order of the words; None where there is no other one."""
    given = inputs(scene)
    return next_seed(given.vectors, seed, given.special)


@kept()
def shifted(scene: Scene, encoding: Encoding, shift: int, scale: float) -> ShiftTest:
    """The shift test in float64; `EncodingError` where a table has no row for a position."""
    given = inputs(scene)
    return shift_test(
        given.before(encoding).double(),
        encoding,
        given.projections,
        shift=shift,
        scale=scale,
        layer_norm=_double(given.layer_norm),
    )


def shifted_or_why(scene: Scene, encoding: Encoding, shift: int, scale: float) -> ShiftTest | str:
    """The shift test, or the sentence that says why there is none."""
    try:
        return shifted(scene, encoding, shift, scale)
    except EncodingError as error:
        return str(error).partition(":")[0]


@kept()
def split(scene: Scene, encoding: Encoding, scale: float, removed: float = 0.0) -> FourTerms:
    """The four terms of an additive encoding's scores, in float64."""
    given = inputs(scene)
    return four_terms(
        given.before(encoding).double(),
        encoding,
        given.projections,
        scale=scale,
        layer_norm=_double(given.layer_norm),
        removed=removed,
    )


def _double(norm: LayerNorm | None) -> LayerNorm | None:
    if norm is None:
        return None
    weight, bias = (None if part is None else part.double() for part in (norm.weight, norm.bias))
    return LayerNorm(weight, bias, norm.eps)


def problem() -> str:
    """Why the installed model's attention can't be shown; empty where it can."""
    try:
        _real_projections()
    except CheckpointError as error:
        return str(error)
    return ""
