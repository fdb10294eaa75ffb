"""How a token's vector and a position's are joined, normalised and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from posembed_core.norms import row_norms

Operation = Literal["add", "multiply", "concat"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


def join(
    token: Float[Tensor, "n d"], position: Float[Tensor, "n p"], operation: Operation
) -> Float[Tensor, "n width"]:
    """The vectors h from e and s·p: their sum, their product, or both side by side.

    >>> join(torch.tensor([[1.0, 2.0]]), torch.tensor([[10.0, 20.0]]), "multiply")
    tensor([[10., 40.]])
    """
    if operation == "add":
        return token + position
    if operation == "multiply":
        return token * position
    return torch.cat((token, position), dim=-1)


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """The normalisation after the sum: its learned weight and bias, and the epsilon in the root.

    Ba et al. 2016, eq. 4, with the biased variance (as ``torch.nn.LayerNorm``). Without ``weight``
    and ``bias`` (both of shape ``(d,)``) it only normalises.

    >>> LayerNorm(eps=0.0)(torch.tensor([1.0, 3.0]))
    tensor([-1.,  1.])
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

    ``token`` (n, d) is e, times sqrt(d) if that was asked for. ``combined`` is h:
    (n, d), or (n, d + p) for a concatenation. ``moved`` (n, p) is the vector by which position
    moves e: s·p for an additive encoding, h - e (before any LayerNorm) for a rotation, and zero
    where position acts inside attention, so that h = e.

    ``position`` is what the encoding contributes, with the scale in it; what that is depends on
    the family:

    - additive: the vectors s·p, (n, p), which are ``moved`` too;
    - rotary: the cosine of the angle by which each dimension's pair is turned, (n, d);
    - score bias: the bias s·b of each pair of these positions, (num_heads, n, n);
    - relative: s times the vector of each position relative to the query at 0, (n, d).

    >>> import posembed_core as pc
    >>> h = pc.combine(torch.ones(2, 4), pc.create("sinusoidal", embed_dim=4))
    >>> bool((h.combined == h.token + h.position).all())
    True
    >>> h.norms().token  # |e| = sqrt(4)
    tensor([2., 2.], dtype=torch.float64)
    """

    token: Float[Tensor, "n d"]
    position: Float[Tensor, "..."]
    combined: Float[Tensor, "n width"]
    moved: Float[Tensor, "n p"]

    def norms(self) -> Norms:
        """The norms of e, of the vector that position contributed (``moved``), and of h."""
        token, moved, combined = map(row_norms, (self.token, self.moved, self.combined))
        return Norms(token=token, position=moved, combined=combined)

    def normalised(self, layer_norm: LayerNorm | None) -> Combined:
        """A copy with h after the LayerNorm; itself where ``layer_norm`` is None."""
        if layer_norm is None:
            return self
        return Combined(self.token, self.position, layer_norm(self.combined), self.moved)
