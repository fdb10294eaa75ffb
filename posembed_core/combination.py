"""Token and position in one vector: h = e + s·p, its variants, and what concatenation costs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import AdditiveEncoding, Encoding
from posembed_core.operations import OPERATIONS, Combined, LayerNorm, Operation
from posembed_core.parameters import EncodingError, shown
from posembed_core.positions import Positions, as_positions


def combine(
    tokens: Float[Tensor, "n d"],
    encoding: Encoding,
    positions: Positions | None = None,
    scale: float = 1.0,
    operation: Operation = "add",
    layer_norm: bool | LayerNorm = False,
    *,
    sqrt_dim: bool = False,
) -> Combined:
    """Combine token vectors (n, d) with their positions (0 … n-1 unless given).

    ``operation`` joins e and s·p of an additive encoding: ``"add"`` h = e + s·p (Vaswani et al.
    2017, section 3.5), ``"multiply"`` h = e ∘ (s·p), ``"concat"`` h = [e; s·p]. For a rotary
    encoding the combination is the rotation by ``scale`` times the angle; a score bias and
    relative vectors leave h = e. ``sqrt_dim`` multiplies the tokens (not the positions) by sqrt(d)
    (section 3.4); ``layer_norm`` normalises h afterwards, as BERT does. The dtype is that of
    ``tokens``.

    Raises `EncodingError` where the widths don't fit, a position has no vector, or the operation
    has nothing to join.

    >>> from posembed_core import combine, create
    >>> combine(torch.ones(3, 4), create("sinusoidal", embed_dim=4), scale=0.5).combined[0]
    tensor([1.0000, 1.5000, 1.0000, 1.5000])
    """
    if tokens.ndim != 2:
        raise EncodingError(
            f"tokens must be a matrix (n, d), got shape {tuple(tokens.shape)}; combine the "
            "sentences of a batch one by one",
            field="tokens",
        )
    n, width = tokens.shape
    checked = torch.arange(n) if positions is None else as_positions(positions)
    check_fit(encoding, width, operation)
    if checked.shape != (n,):
        raise EncodingError(
            f"there must be one position for each of the {n} tokens, got {checked.numel()}",
            field="positions",
        )
    token = tokens * width**0.5 if sqrt_dim else tokens
    normalise = LayerNorm() if layer_norm is True else layer_norm or None
    return encoding.contribute(token, checked, scale, operation).normalised(normalise)


def check_fit(encoding: Encoding, width: int, operation: str) -> None:
    """Raise `EncodingError` where tokens of this width cannot be combined with the encoding.

    >>> from posembed_core import create
    >>> check_fit(create("rope", head_dim=64), 64, "add")
    """
    if operation not in OPERATIONS:
        raise EncodingError(
            f"operation must be one of {', '.join(OPERATIONS)}, got {shown(operation)}",
            field="operation",
            nearest="add",
        )
    own = encoding.vector_width or width
    if not isinstance(encoding, AdditiveEncoding):
        if operation != "add":
            raise EncodingError(
                f"operation {operation!r} joins two vectors, and {encoding.title} has no position "
                "vector at the input; choose 'add' or an additive encoding",
                field="operation",
                nearest="add",
            )
        if own != width:
            raise EncodingError(
                f"token vectors of {width} dimensions don't fit {encoding.slug} with head_dim "
                f"{own}; try head_dim={width}",
                field="head_dim",
                nearest=width,
            )
    elif operation != "concat" and own != width:
        raise EncodingError(
            f"token vectors of {width} dimensions and position vectors of {own} "
            f"cannot be joined by {operation!r}; try embed_dim={width} or operation='concat'",
            field="embed_dim",
            nearest=width,
        )


@dataclass(frozen=True, eq=False)
class ConcatIdentity:
    """W[e;p] = W₁e + W₂p, both sides computed, and what each way costs.

    ``residual`` is the greatest absolute difference of the two sides, over at most 64 output
    dimensions, since all are alike; the parameter counts are of the whole projection after a
    concatenation, out × (d + p), and after a sum, out × d.
    """

    residual: float
    concat_parameters: int
    add_parameters: int


def concat_identity(
    token: Float[Tensor, "n d"], position: Float[Tensor, "n p"], out: int, seed: int = 0
) -> ConcatIdentity:
    """Check in float64 that a projection of [e; p] is a sum of two projections.

    So adding is concatenating with W₁ = W₂: the sum shares one projection between both.

    >>> concat_identity(torch.ones(2, 8), torch.ones(2, 4), out=16).concat_parameters
    192
    """
    e, p = token.double(), position.double()
    d, width = e.shape[1], e.shape[1] + p.shape[1]
    generator = torch.Generator().manual_seed(seed)
    rows = min(out, 64)  # all 4096 would take a second, too slow for a dragged slider
    weight = torch.randn(rows, width, generator=generator, dtype=torch.float64) * width**-0.5
    whole = torch.cat((e, p), dim=1) @ weight.T
    parts = e @ weight[:, :d].T + p @ weight[:, d:].T
    return ConcatIdentity(float((whole - parts).abs().max()), out * width, out * d)
