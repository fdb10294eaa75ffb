"""Token and position in one vector: h = e + s·p and its relatives, and the norms of all three."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    EncodingError,
    Positions,
    RelativeEncoding,
    RotaryEncoding,
    as_positions,
)
from posembed_core.norms import row_norms
from posembed_core.parameters import shown

Operation = Literal["add", "multiply", "concat"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """The normalisation after the sum: its learned weight and bias, and the epsilon in the root.

    Ba et al. 2016, eq. 4, with the biased variance (as ``torch.nn.LayerNorm``). Without ``weight``
    and ``bias`` (both of shape ``(d,)``) it only normalises.
    """

    weight: Float[Tensor, " d"] | None = None
    bias: Float[Tensor, " d"] | None = None
    eps: float = 1e-5

    def __call__(self, h: Float[Tensor, "... d"]) -> Float[Tensor, "... d"]:
        return functional.layer_norm(h, h.shape[-1:], self.weight, self.bias, self.eps)


@dataclass(frozen=True, eq=False)
class Norms:
    """Euclidean norms per position, float64, each of shape (n,)."""

    token: Float[Tensor, " n"]
    position: Float[Tensor, " n"]
    combined: Float[Tensor, " n"]


@dataclass(frozen=True, eq=False)
class Combined:
    """What goes into the first attention layer, and the two parts that it is made of.

    ``token`` (n, d) is e, with the sqrt(d) factor where that was asked for. ``combined`` is h:
    (n, d), or (n, d + p) for a concatenation. ``position`` is what the encoding contributed, with
    the scale in it: the vectors s·p (n, d) for an additive encoding; the cosine of the angle of
    each channel's pair (n, d) for a rotary one; the bias (num_heads, n, n) for a score bias; the
    relative vectors as position 0 sees them (n, d) for a relative encoding. The last two act
    inside attention, so there h = e.
    """

    token: Float[Tensor, "n d"]
    position: Float[Tensor, "..."]
    combined: Float[Tensor, "n width"]
    moved: Float[Tensor, "n p"]

    def norms(self) -> Norms:
        """The norms of e, of the vector that position contributed, and of h, per position.

        That vector is s·p for an additive encoding, h - e for a rotation, and zero where position
        enters only inside attention.
        """
        token, moved, combined = map(row_norms, (self.token, self.moved, self.combined))
        return Norms(token=token, position=moved, combined=combined)


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
    """
    if tokens.ndim != 2:
        raise EncodingError(
            f"tokens must be a matrix (n, d), got shape {tuple(tokens.shape)}; combine the "
            "sentences of a batch one by one",
            field="tokens",
        )
    n, width = tokens.shape
    where = torch.arange(n) if positions is None else as_positions(positions)
    check_fit(encoding, width, operation)
    if where.shape != (n,):
        raise EncodingError(
            f"there must be one position for each of the {n} tokens, got {where.numel()}",
            field="positions",
        )
    token = tokens * width**0.5 if sqrt_dim else tokens
    if isinstance(encoding, AdditiveEncoding):
        position = moved = scale * encoding.table(where, tokens.dtype)
        combined = join(token, position, operation)
    elif isinstance(encoding, RotaryEncoding):
        combined = encoding.rotate(token, where, scale=scale)
        position = channel_cosines(encoding, where, scale).to(tokens.dtype)
        moved = combined - token
    else:
        combined, moved = token, torch.zeros_like(token)
        if isinstance(encoding, BiasEncoding):
            position = scale * encoding.bias(where, where).to(tokens.dtype)
        elif isinstance(encoding, RelativeEncoding):
            position = scale * encoding.vectors(0, where).to(tokens.dtype)
        else:
            raise EncodingError(f"{encoding.slug} belongs to no family that combine knows")
    normalise = LayerNorm() if layer_norm is True else layer_norm
    return Combined(token, position, normalise(combined) if normalise else combined, moved)


def check_fit(encoding: Encoding, width: int, operation: str) -> None:
    """Raise `EncodingError` where tokens of this width cannot be combined with the encoding."""
    if operation not in OPERATIONS:
        raise EncodingError(
            f"operation must be one of {', '.join(OPERATIONS)}, got {shown(operation)}",
            field="operation",
            nearest="add",
        )
    if not isinstance(encoding, AdditiveEncoding):
        if operation != "add":
            raise EncodingError(
                f"operation {operation!r} joins two vectors, and {encoding.title} has no position "
                "vector at the input; choose 'add' or an additive encoding",
                field="operation",
                nearest="add",
            )
        own = getattr(encoding, "head_dim", width)
        if own != width:
            raise EncodingError(
                f"token vectors of {width} channels don't fit {encoding.slug} with head_dim {own}; "
                f"try head_dim={width}",
                field="head_dim",
                nearest=width,
            )
    elif operation != "concat" and encoding.embed_dim != width:
        raise EncodingError(
            f"token vectors of {width} channels and position vectors of {encoding.embed_dim} "
            f"cannot be joined by {operation!r}; try embed_dim={width} or operation='concat'",
            field="embed_dim",
            nearest=width,
        )


def join(
    token: Float[Tensor, "n d"], position: Float[Tensor, "n p"], operation: Operation
) -> Float[Tensor, "n width"]:
    """The vectors h from e and s·p."""
    if operation == "add":
        return token + position
    if operation == "multiply":
        return token * position
    return torch.cat((token, position), dim=-1)


def channel_cosines(
    encoding: RotaryEncoding,
    positions: Int[Tensor, " n"],
    scale: float = 1.0,
    seq_len: int | None = None,
) -> Float[Tensor, "n head_dim"]:
    """Cosine of the angle by which each channel's pair is turned, float64: a rotation's picture.

    The first column of each pair's 2 × 2 matrix; 1 for channels that don't turn. It is the
    rotation of a vector whose pairs are all (1, 0), read back at both channels of each pair.
    """
    angles = encoding.angles(positions, seq_len, scale=scale)
    cosines = torch.ones(len(positions), encoding.head_dim, dtype=torch.float64)
    cosines[:, : encoding.rotary_dim] = encoding.per_channel(angles.cos())
    return cosines


@dataclass(frozen=True, eq=False)
class ConcatIdentity:
    """W[e;p] = W₁e + W₂p, both sides computed, and what each way costs.

    ``residual`` is the greatest absolute difference of the two sides, in up to 64 of the output
    channels, which are all alike; the parameter counts are of the whole projection after a
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
    """
    e, p = token.double(), position.double()
    d, width = e.shape[1], e.shape[1] + p.shape[1]
    generator = torch.Generator().manual_seed(seed)
    rows = min(out, 64)  # all 4096 would take a second, and this follows a dragged slider
    weight = torch.randn(rows, width, generator=generator, dtype=torch.float64) * width**-0.5
    whole = torch.cat((e, p), dim=1) @ weight.T
    parts = e @ weight[:, :d].T + p @ weight[:, d:].T
    return ConcatIdentity(float((whole - parts).abs().max()), out * width, out * d)
