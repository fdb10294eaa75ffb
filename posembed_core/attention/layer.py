"""One attention layer on one input, whichever way its encoding brings position in."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    EncodingError,
    Positions,
    RelativeEncoding,
    RotaryEncoding,
    as_positions,
    relative_positions,
    seeded_normal,
)
from posembed_core.operations import LayerNorm


@dataclass(frozen=True, eq=False)
class Projections:
    """The weights of one attention layer: what turns a vector into query, key and value.

    ``query``, ``key`` and ``value`` have one (head_dim, embed_dim) matrix for each head; their
    biases, if any, one vector (head_dim,) for each head.
    """

    query: Float[Tensor, "num_heads head_dim embed_dim"]
    key: Float[Tensor, "num_heads head_dim embed_dim"]
    value: Float[Tensor, "num_heads head_dim embed_dim"]
    query_bias: Float[Tensor, "num_heads head_dim"] | None = None
    key_bias: Float[Tensor, "num_heads head_dim"] | None = None
    value_bias: Float[Tensor, "num_heads head_dim"] | None = None

    @property
    def num_heads(self) -> int:
        """How many heads there are."""
        return self.query.shape[0]

    @property
    def head_dim(self) -> int:
        """The length of a query or key."""
        return self.query.shape[1]

    @property
    def embed_dim(self) -> int:
        """The length of a token's vector."""
        return self.query.shape[2]

    def heads(self, chosen: slice) -> Projections:
        """The same weights of some heads only."""
        biases = (self.query_bias, self.key_bias, self.value_bias)
        cut = (None if bias is None else bias[chosen] for bias in biases)
        return Projections(self.query[chosen], self.key[chosen], self.value[chosen], *cut)


def random_projections(
    embed_dim: int, num_heads: int, head_dim: int | None = None, seed: int = 7
) -> Projections:
    """Normal draws with deviation ``1 / sqrt(embed_dim)``, float32, no biases.

    ``head_dim`` is ``embed_dim // num_heads`` unless given. A head's weights stay the same,
    however many heads there are.

    >>> random_projections(8, num_heads=2, head_dim=4).query.shape
    torch.Size([2, 4, 8])
    """
    width = max(1, embed_dim // num_heads) if head_dim is None else head_dim
    drawn = seeded_normal(num_heads * 3 * width, embed_dim, seed, embed_dim**-0.5)
    return Projections(*drawn.reshape(num_heads, 3, width, embed_dim).unbind(1))


@dataclass(frozen=True, eq=False)
class Attention:
    """What one layer computes for n tokens; every array has the heads first.

    ``q``, ``k`` and ``v`` are the projections (of the sum for an additive encoding, else of the
    tokens alone; a rotation comes later, in the scores). ``scores`` lack only the mask and the
    temperature. ``allowed`` is True where a query may see a key. ``weights`` is their softmax, and
    ``output`` the weighted sum of the values.
    """

    q: Float[Tensor, "num_heads n head_dim"]
    k: Float[Tensor, "num_heads n head_dim"]
    v: Float[Tensor, "num_heads n head_dim"]
    scores: Float[Tensor, "num_heads n n"]
    allowed: Bool[Tensor, "n n"]
    weights: Float[Tensor, "num_heads n n"]
    output: Float[Tensor, "num_heads n head_dim"]


def causal_mask(
    query_positions: Positions, key_positions: Positions
) -> Bool[Tensor, "q_len k_len"]:
    """True where the key is not after the query: what a decoder may see.

    >>> causal_mask([0, 1, 2], [0, 1, 2]).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return relative_positions(query_positions, key_positions) <= 0


def attend(
    tokens: Float[Tensor, "n embed_dim"],
    encoding: Encoding,
    projections: Projections,
    positions: Positions | None = None,
    *,
    scale: float = 1.0,
    causal: bool = False,
    temperature: float = 1.0,
    layer_norm: LayerNorm | None = None,
) -> Attention:
    """Attention of ``tokens`` at ``positions`` (0 … n-1 unless given), in their dtype.

    An additive encoding changes the input before all three projections; the others change the
    scores (Shaw's also the sum of the values). ``scale`` is the strength of position, 0 for none.
    ``layer_norm`` normalises the input of the projections, as BERT does. The mask is causal by
    position. The encoding's own ``softmax_scale`` is used: 1 for T5, 1 / sqrt(3 d) for DeBERTa.

    Raises `EncodingError` where the widths or the number of heads don't fit, a position has no
    vector, or the temperature is not above 0.

    >>> import posembed_core as pc
    >>> tokens, none = pc.random_tokens(4, 8), pc.create("none", embed_dim=8)
    >>> projections = random_projections(8, num_heads=2, head_dim=4)
    >>> attend(tokens, none, projections, causal=True).weights[0, 0].tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    checked = checked_positions(tokens, encoding, projections, positions)
    if not temperature > 0:
        raise EncodingError(
            f"temperature must be above 0, got {temperature:g}; try 1", field="temperature"
        )
    inputs = layer_input(tokens, encoding, checked, scale)
    q, k, v = project(inputs if layer_norm is None else layer_norm(inputs), projections)
    factor = encoding.softmax_scale(projections.head_dim)
    if isinstance(encoding, AdditiveEncoding):
        scores = factor * (q @ k.mT)  # position is in q and k already
    else:
        scores = encoding.scores(q, k, checked, checked, scale=scale, softmax_scale=factor)
    allowed = (
        causal_mask(checked, checked) if causal else torch.ones_like(scores[0], dtype=torch.bool)
    )
    weights = softmax_weights(scores, allowed, temperature)
    output = weights @ v
    if isinstance(encoding, RelativeEncoding):
        output = output + scale * encoding.relative_values(weights, checked, checked)
    return Attention(q, k, v, scores, allowed, weights, output)


def softmax_weights(
    scores: Float[Tensor, "... n n"], allowed: Bool[Tensor, "n n"], temperature: float
) -> Float[Tensor, "... n n"]:
    """The softmax over the keys that each query may see, of the scores over the temperature.

    >>> softmax_weights(torch.zeros(2, 2), causal_mask([0, 1], [0, 1]), 1.0).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return (scores / temperature).masked_fill(~allowed, -torch.inf).softmax(-1)


def layer_input(
    tokens: Float[Tensor, "n embed_dim"], encoding: Encoding, positions: Tensor, scale: float
) -> Float[Tensor, "n embed_dim"]:
    """What is projected: ``e + scale p`` for an additive encoding, else e.

    >>> import posembed_core as pc
    >>> tokens, none = pc.random_tokens(4, 8), pc.create("none", embed_dim=8)
    >>> torch.equal(layer_input(tokens, none, torch.arange(4), 1.0), tokens)
    True
    """
    if not isinstance(encoding, AdditiveEncoding):
        return tokens
    return tokens + scale * encoding.table(positions, tokens.dtype)


def project(
    inputs: Float[Tensor, "n embed_dim"], projections: Projections
) -> tuple[
    Float[Tensor, "num_heads n head_dim"],
    Float[Tensor, "num_heads n head_dim"],
    Float[Tensor, "num_heads n head_dim"],
]:
    """Query, key and value of each vector in each head, in the dtype of the vectors.

    >>> q, k, v = project(torch.ones(3, 8), random_projections(8, num_heads=2, head_dim=4))
    >>> q.shape
    torch.Size([2, 3, 4])
    """
    pairs = (
        (projections.query, projections.query_bias),
        (projections.key, projections.key_bias),
        (projections.value, projections.value_bias),
    )
    q, k, v = (linear(inputs, weight, bias) for weight, bias in pairs)
    return q, k, v


def linear(
    inputs: Float[Tensor, "n embed_dim"],
    weight: Float[Tensor, "num_heads head_dim embed_dim"],
    bias: Float[Tensor, "num_heads head_dim"] | None = None,
) -> Float[Tensor, "num_heads n head_dim"]:
    """``W x + b`` of each vector in each head.

    >>> linear(torch.tensor([[1.0, 2.0]]), torch.eye(2)[None] * 3).tolist()
    [[[3.0, 6.0]]]
    """
    out = inputs @ weight.to(inputs.dtype).mT
    return out if bias is None else out + bias.to(inputs.dtype)[:, None, :]


def checked_positions(
    tokens: Float[Tensor, "n embed_dim"],
    encoding: Encoding,
    projections: Projections,
    positions: Positions | None,
) -> Tensor:
    """The positions as int64, or an `EncodingError` where the arguments don't fit together.

    >>> import posembed_core as pc
    >>> tokens, none = pc.random_tokens(4, 8), pc.create("none", embed_dim=8)
    >>> projections = random_projections(8, num_heads=2, head_dim=4)
    >>> checked_positions(tokens, none, projections, None).tolist()
    [0, 1, 2, 3]
    """
    n, width = tokens.shape
    checked = torch.arange(n) if positions is None else as_positions(positions)
    if checked.shape != (n,):
        raise EncodingError(
            f"there must be one position for each of the {n} tokens, got {checked.numel()}",
            field="positions",
        )
    _check_equal("the tokens' width", "embed_dim", width, projections.embed_dim)
    if isinstance(encoding, AdditiveEncoding):
        _check_equal("embed_dim", "embed_dim", encoding.embed_dim, projections.embed_dim)
    if isinstance(encoding, BiasEncoding):
        _check_equal("num_heads", "num_heads", encoding.num_heads, projections.num_heads)
    if isinstance(encoding, RotaryEncoding | RelativeEncoding):
        _check_equal("head_dim", "head_dim", encoding.head_dim, projections.head_dim)
    return checked


def _check_equal(name: str, field: str, given: int, expected: int) -> None:
    if given != expected:
        raise EncodingError(
            f"{name} must be {expected} as in the projections ({field}), got {given}",
            field=field,
            nearest=expected,
        )
