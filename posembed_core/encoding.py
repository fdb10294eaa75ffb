"""What every encoding is: frozen, checked settings, and scores as a pure function of them."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.operations import Combined, Operation
from posembed_core.parameters import EncodingError, Parameter
from posembed_core.positions import Positions

MAX_LENGTH = 8192  # positions of one table
MAX_DIM = 4096  # dimensions of one vector


@dataclass(frozen=True, eq=False)
class Excerpt:
    """What is known of the whole sequence when an encoding sees only a part of it.

    ``vectors`` are what the scale multiplies at these positions, if the caller already has them:
    rows of a table (n, d), a bias, or relative vectors (n, d); None means: compute them.
    ``seq_len`` is the whole length, where a rotation depends on it; None is one more than the
    greatest position. ``query`` is the position that relative vectors are seen from, ``heads`` are
    those whose bias is wanted.
    """

    vectors: Float[Tensor, "..."] | None = None
    seq_len: int | None = None
    query: int = 0
    heads: slice = field(default_factory=lambda: slice(None))


WHOLE = Excerpt()


@dataclass(frozen=True, kw_only=True)
class Encoding(ABC):
    """A way to tell a Transformer where a word is: frozen settings and pure functions of them.

    Subclasses are frozen, keyword-only dataclasses whose fields come from `integer`, `real`,
    `choice`, `flag` and `reals`; the docstring states the formula, ``formula`` is the same in
    LaTeX. An invalid one cannot be built: each field is checked, then `validate` checks them all.

    >>> import posembed_core as pc
    >>> import torch
    >>> q, k = torch.eye(4), torch.eye(4)
    >>> pc.create("rope", head_dim=4).scores(q, k, range(4), range(4)).shape
    torch.Size([4, 4])
    >>> pc.create("alibi", num_heads=8).scores(q, k, range(4), range(4)).shape  # one for each head
    torch.Size([8, 4, 4])
    """

    slug: ClassVar[str]
    title: ClassVar[str]
    year: ClassVar[int]
    reference: ClassVar[str]
    formula: ClassVar[str]
    door: ClassVar[str]
    # Why positions that training never saw do no harm; empty if they may.
    beyond: ClassVar[str] = ""
    # Whether position acts inside attention alone, so that the vectors stay as they are: h = e.
    acts_inside: ClassVar[bool] = False
    # Whether a key's score depends on the other keys, too: they must all be there.
    counts_keys: ClassVar[bool] = False
    # Whether the contribution is proportional to the scale.
    is_linear: ClassVar[bool] = True
    # Other names that `create` takes for a field, where the attribute cannot have that name.
    aliases: ClassVar[dict[str, str]] = {}

    def __post_init__(self) -> None:
        for name, parameter in self.parameters().items():
            object.__setattr__(self, name, parameter.check(name, getattr(self, name)))
        self.validate()

    def validate(self) -> None:  # noqa: B027 (most encodings have nothing to add)
        """Raise `EncodingError` where fields that are legal by themselves don't fit together."""

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """``{field name: Parameter}`` in the order of the fields."""
        marked = ((item.name, item.metadata.get("parameter")) for item in dataclasses.fields(cls))
        return {name: parameter for name, parameter in marked if parameter is not None}

    @property
    def parameter_count(self) -> int:
        """How many numbers training would shape; in one layer, where each layer has its own.

        With ``num_heads`` among the settings (T5, KERPLE, FIRE) those of all heads; with
        ``head_dim`` (Shaw, Transformer-XL, DeBERTa, CoPE) those of one head, or of the table that
        all heads share.
        """
        return 0

    @property
    def vector_width(self) -> int | None:
        """How many dimensions its input vectors must have; None where any number will do."""
        return None

    def contribute(
        self,
        token: Float[Tensor, "n d"],
        positions: Int[Tensor, " n"],
        scale: float = 1.0,
        operation: Operation = "add",
        excerpt: Excerpt = WHOLE,
    ) -> Combined:
        """Token vectors with ``scale`` times what the encoding contributes at their positions.

        Each family has its own; `Combined` says what ``position`` is in each. Widths and operation
        must fit (`combination.check_fit`). ``excerpt`` is for callers that see only parts.
        """
        raise EncodingError(f"{self.slug} belongs to no family that combine knows")

    @abstractmethod
    def scores(
        self,
        q: Float[Tensor, "... q_len head_dim"],
        k: Float[Tensor, "... k_len head_dim"],
        query_positions: Positions,
        key_positions: Positions,
        *,
        scale: float = 1.0,
        softmax_scale: float = 1.0,
    ) -> Float[Tensor, "... q_len k_len"]:
        """Attention scores before softmax: query × key with position included.

        ``scale`` multiplies whatever the encoding contributes (0 means no position).
        ``softmax_scale`` multiplies the products of query and key, never a bias that is added after
        them; a model passes what the method of that name returns.
        """

    def softmax_scale(self, head_dim: int) -> float:
        """What query-key products are multiplied by before softmax: ``1 / sqrt(head_dim)``."""
        return float(head_dim**-0.5)
