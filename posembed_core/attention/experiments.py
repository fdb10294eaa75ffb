"""Experiments on one attention layer: shift it, take its scores apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.attention.layer import Projections, attend, checked_positions, linear
from posembed_core.base import AdditiveEncoding, Encoding, EncodingError, Positions
from posembed_core.operations import LayerNorm


@dataclass(frozen=True, eq=False)
class ShiftTest:
    """How much the scores change when all positions move by the same number.

    ``change`` is shifted minus original scores; ``maximum`` its greatest entry in absolute value,
    ``score_size`` the greatest score, for comparison.
    """

    change: Float[Tensor, "num_heads n n"]
    maximum: float
    score_size: float


def shift_test(
    tokens: Float[Tensor, "n embed_dim"],
    encoding: Encoding,
    projections: Projections,
    positions: Positions | None = None,
    *,
    shift: int,
    scale: float = 1.0,
    layer_norm: LayerNorm | None = None,
) -> ShiftTest:
    """Move all positions by ``shift`` and compare the scores (mask and temperature don't matter).

    Raises `EncodingError` where the encoding has no vector for a shifted position.

    >>> import posembed_core as pc
    >>> from posembed_core.attention.layer import random_projections
    >>> tokens, rope = pc.random_tokens(4, 8), pc.create("rope", head_dim=4)
    >>> projections = random_projections(8, num_heads=2, head_dim=4)
    >>> shift_test(tokens, rope, projections, shift=100).maximum < 1e-5
    True
    """
    checked = checked_positions(tokens, encoding, projections, positions)
    before, after = (
        attend(tokens, encoding, projections, at, scale=scale, layer_norm=layer_norm).scores
        for at in (checked, checked + shift)
    )
    change = after - before
    return ShiftTest(change, float(change.abs().max()), float(before.abs().max()))


@dataclass(frozen=True, eq=False)
class FourTerms:
    """The scores of an additive encoding as a sum of four terms, (num_heads, n, n) each.

    A term's first word names the query's part, its second the key's part. ``residual`` is the
    greatest difference between their sum and ``scores``: rounding. ``directions`` is how many
    dimensions the position vectors fill.
    """

    content_content: Float[Tensor, "num_heads n n"]
    content_position: Float[Tensor, "num_heads n n"]
    position_content: Float[Tensor, "num_heads n n"]
    position_position: Float[Tensor, "num_heads n n"]
    scores: Float[Tensor, "num_heads n n"]
    residual: float
    directions: int = 0


def four_terms(
    tokens: Float[Tensor, "n embed_dim"],
    encoding: Encoding,
    projections: Projections,
    positions: Positions | None = None,
    *,
    scale: float = 1.0,
    layer_norm: LayerNorm | None = None,
    removed: float = 0.0,
) -> FourTerms:
    """(W_q (e + s·p))·(W_k (e + s·p)), multiplied out.

    ``removed`` turns position down in the projections: they become W (I - removed · Π), with Π the
    orthogonal projection onto all that these positions' vectors span. At 1 nothing of them is left,
    and of the content only what lies across.

    The projections' biases belong to the content. A LayerNorm is linear once its deviation is
    known, so it is taken apart too: e and s·p are both divided by the deviation of their sum; its
    bias belongs to the content. Raises `EncodingError` for an encoding that isn't additive.

    >>> import posembed_core as pc
    >>> from posembed_core.attention.layer import random_projections
    >>> tokens, none = pc.random_tokens(4, 8), pc.create("none", embed_dim=8)
    >>> projections = random_projections(8, num_heads=2, head_dim=4)
    >>> float(four_terms(tokens, none, projections).position_position.abs().max())
    0.0
    """
    if not isinstance(encoding, AdditiveEncoding):
        raise EncodingError(
            f"the scores of {type(encoding).slug} don't split into four terms, since nothing is "
            f"added to the input; use an additive encoding",
            field="encoding",
        )
    checked = checked_positions(tokens, encoding, projections, positions)
    content, position = tokens, scale * encoding.table(checked, tokens.dtype)
    if layer_norm is not None:
        content, position = _normalised_parts(content, position, layer_norm)
    factor = encoding.softmax_scale(projections.head_dim)
    span = _directions(position)
    if removed:
        projections = _turned_down(projections, span, removed)
    query_parts = (
        linear(content, projections.query, projections.query_bias),
        linear(position, projections.query),
    )
    key_parts = (
        linear(content, projections.key, projections.key_bias),
        linear(position, projections.key),
    )
    cc, cp, pc, pp = (factor * (q @ k.mT) for q in query_parts for k in key_parts)
    whole = attend(
        tokens, encoding, projections, checked, scale=scale, layer_norm=layer_norm
    ).scores
    residual = float((cc + cp + pc + pp - whole).abs().max())
    return FourTerms(cc, cp, pc, pp, whole, residual, len(span))


def _directions(vectors: Float[Tensor, "n d"]) -> Float[Tensor, "rank d"]:
    """Orthonormal directions that the rows fill."""
    sizes, directions = torch.linalg.svd(vectors, full_matrices=False)[1:]
    least = torch.finfo(vectors.dtype).eps * max(vectors.shape) * sizes.max()
    filled: Tensor = directions[sizes > least]
    return filled


def _turned_down(
    projections: Projections, span: Float[Tensor, "rank d"], removed: float
) -> Projections:
    """Queries and keys that don't read these directions, or less of them."""
    query, key = (
        matrix.to(span.dtype) - removed * (matrix.to(span.dtype) @ span.T) @ span
        for matrix in (projections.query, projections.key)
    )
    return replace(projections, query=query, key=key)


def _normalised_parts(
    content: Float[Tensor, "n embed_dim"],
    position: Float[Tensor, "n embed_dim"],
    layer_norm: LayerNorm,
) -> tuple[Float[Tensor, "n embed_dim"], Float[Tensor, "n embed_dim"]]:
    total = content + position
    deviation = (total.var(-1, correction=0, keepdim=True) + layer_norm.eps).sqrt()
    parts = [(part - part.mean(-1, keepdim=True)) / deviation for part in (content, position)]
    if layer_norm.weight is not None:
        parts = [part * layer_norm.weight for part in parts]
    if layer_norm.bias is not None:
        parts[0] = parts[0] + layer_norm.bias
    return parts[0], parts[1]
