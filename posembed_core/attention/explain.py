"""The full arithmetic of one attention weight, from two tokens to the softmax."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.attention.layer import Projections, attend, checked_positions, layer_input
from posembed_core.base import AdditiveEncoding, Encoding, EncodingError, Positions, RotaryEncoding
from posembed_core.operations import LayerNorm


@dataclass(frozen=True, eq=False)
class WeightArithmetic:
    """How much query i attends to key j in one head, step by step.

    Vectors: ``token_*`` is e, ``position_*`` s·p (zero unless the encoding is additive),
    ``input_*`` what is projected (e + s·p, normalised where a LayerNorm is given), ``q`` and ``k``
    the projections, ``turned_q`` and ``turned_k`` the rotated ones (the same as q and k unless the
    encoding is rotary), ``products`` the elementwise product of q and k. Numbers::

        content  = softmax_scale * sum(products)
        score    = content + position_part          what a bias, rotation or relative vector adds
        logit    = score / temperature
        weight   = exp(logit) / sum_t exp(logit_t)  over the keys that the query may see

    ``row`` holds the logits of all keys, -inf where masked; ``shift`` is the greatest of them, and
    ``denominator`` the sum of exp(logit - shift).
    """

    head: int
    query_position: int
    key_position: int
    token_query: Float[Tensor, " embed_dim"]
    token_key: Float[Tensor, " embed_dim"]
    position_query: Float[Tensor, " embed_dim"]
    position_key: Float[Tensor, " embed_dim"]
    input_query: Float[Tensor, " embed_dim"]
    input_key: Float[Tensor, " embed_dim"]
    q: Float[Tensor, " head_dim"]
    k: Float[Tensor, " head_dim"]
    turned_q: Float[Tensor, " head_dim"]
    turned_k: Float[Tensor, " head_dim"]
    products: Float[Tensor, " head_dim"]
    softmax_scale: float
    content: float
    position_part: float
    score: float
    temperature: float
    logit: float
    row: Float[Tensor, " n"]
    shift: float
    denominator: float
    weight: float


def explain_weight(
    tokens: Float[Tensor, "n embed_dim"],
    encoding: Encoding,
    projections: Projections,
    positions: Positions | None = None,
    *,
    head: int,
    query: int,
    key: int,
    scale: float = 1.0,
    causal: bool = False,
    temperature: float = 1.0,
    layer_norm: LayerNorm | None = None,
) -> WeightArithmetic:
    """The arithmetic of weight (``head``, ``query``, ``key``), slots counted from 0.

    The other arguments are those of `attend`, and the numbers are its numbers. Raises
    `EncodingError` where there is no such head or slot.

    >>> import posembed_core as pc
    >>> from posembed_core.attention.layer import random_projections
    >>> tokens, none = pc.random_tokens(4, 8), pc.create("none", embed_dim=8)
    >>> projections = random_projections(8, num_heads=2, head_dim=4)
    >>> first = explain_weight(tokens, none, projections, head=0, query=0, key=0, causal=True)
    >>> first.weight
    1.0
    """
    checked = checked_positions(tokens, encoding, projections, positions)
    sizes = {"head": projections.num_heads, "query": len(checked), "key": len(checked)}
    for name, given in (("head", head), ("query", query), ("key", key)):
        if not 0 <= given < sizes[name]:
            raise EncodingError(
                f"{name} must be between 0 and {sizes[name] - 1}, got {given}", field=name
            )
    done = attend(
        tokens,
        encoding,
        projections,
        checked,
        scale=scale,
        causal=causal,
        temperature=temperature,
        layer_norm=layer_norm,
    )
    inputs = layer_input(tokens, encoding, checked, scale)
    position = torch.zeros_like(tokens)
    if isinstance(encoding, AdditiveEncoding):
        position = scale * encoding.table(checked, tokens.dtype)
    projected = inputs if layer_norm is None else layer_norm(inputs)
    turned_q, turned_k = q, k = done.q[head], done.k[head]
    if isinstance(encoding, RotaryEncoding):
        length = int(checked.max()) + 1
        turned_q = encoding.rotate(q, checked, length, scale=scale)
        turned_k = encoding.rotate(k, checked, length, scale=scale)
    factor = encoding.softmax_scale(projections.head_dim)
    products = q[query] * k[key]
    content = factor * float(products.sum())
    score = float(done.scores[head, query, key])
    row = done.scores[head, query] / temperature
    row = row.masked_fill(~done.allowed[query], -torch.inf)
    return WeightArithmetic(
        head=head,
        query_position=int(checked[query]),
        key_position=int(checked[key]),
        token_query=tokens[query],
        token_key=tokens[key],
        position_query=position[query],
        position_key=position[key],
        input_query=projected[query],
        input_key=projected[key],
        q=q[query],
        k=k[key],
        turned_q=turned_q[query],
        turned_k=turned_k[key],
        products=products,
        softmax_scale=factor,
        content=content,
        position_part=score - content,
        score=score,
        temperature=temperature,
        logit=score / temperature,
        row=row,
        shift=float(row.max()),
        denominator=float((row - row.max()).exp().sum()),
        weight=float(done.weights[head, query, key]),
    )
