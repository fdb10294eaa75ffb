"""A position table that exists as numbers: read from a file or trained, looked up by row."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.base import (
    MAX_DIM,
    MAX_LENGTH,
    AdditiveEncoding,
    Positions,
)


class CheckpointError(ValueError):
    """A file, or a tensor in it, that holds no usable position table.

    The message says in one sentence what was found, what is allowed and what to try.

    >>> import io
    >>> import posembed_core as pc
    >>> try:
    ...     pc.load_table(io.BytesIO(b"hello"), source="table.bin")
    ... except pc.CheckpointError as error:
    ...     print(str(error)[:31])
    table.bin is not a tensor file:
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class PositionTable(AdditiveEncoding):
    """p_i = P[offset + i, :], the table of a real model, of a training run, or of your own file.

    ``weight`` is the whole tensor (rows, embed_dim) in float32, ``name`` what it is called,
    ``source`` the file or model that it comes from. The first ``offset`` rows belong to no
    position: RoBERTa's two, a vision model's class token. ``notes`` says in sentences what was
    recognised. It is data, not a setting, so it stands in no registry, and two tables are equal
    only when they are the same object. Raises `CheckpointError` unless it is finite and has
    1 … 8192 positions and 2 … 4096 columns.

    >>> import posembed_core as pc
    >>> import torch
    >>> table = pc.PositionTable(weight=torch.eye(3), name="wpe.weight", source="made up")
    >>> table.max_seq_len, table.embed_dim
    (3, 3)
    >>> table.table([2])
    tensor([[0., 0., 1.]])
    """

    slug: ClassVar[str] = "table"
    title: ClassVar[str] = "Position table"
    year: ClassVar[int] = 2017
    reference: ClassVar[str] = (
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning (arXiv:1705.03122), "
        "section 3.1"
    )
    formula: ClassVar[str] = r"p_i = P[i,:],\quad P \in \mathbb{R}^{L_{\max} \times d}"

    embed_dim: int = dataclasses.field(init=False)
    weight: Float[Tensor, "rows embed_dim"] = dataclasses.field(repr=False)
    name: str
    source: str
    offset: int = 0
    notes: tuple[str, ...] = ()

    # Without these it would inherit the parent's comparison, which sees embed_dim alone.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        check_table(self.weight, self.name, self.offset)
        object.__setattr__(self, "embed_dim", self.weight.shape[1])
        object.__setattr__(self, "title", self.name)
        super().__post_init__()

    @property
    def max_seq_len(self) -> int:
        """How many positions have a row."""
        return self.weight.shape[0] - self.offset

    @property
    def position_count(self) -> int:
        return self.max_seq_len

    @cached_property
    def digest(self) -> str:
        """A hash of the numbers and of what they are called: equal for equal tables."""
        called = f"{self.name}\0{self.source}\0{self.offset}\0{tuple(self.weight.shape)}\0".encode()
        numbers = self.weight.detach().contiguous().numpy().data
        return hashlib.blake2b(
            numbers, digest_size=16, key=hashlib.sha256(called).digest()
        ).hexdigest()

    @property
    def rows(self) -> Float[Tensor, "n embed_dim"]:
        """The rows that belong to positions, in their order."""
        return self.weight[self.offset :]

    def table(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "... embed_dim"]:
        """Row ``offset + i`` of the table for each position ``i``.

        Raises `EncodingError`, before any lookup, for a position outside 0 … max_seq_len - 1.
        """
        indices = self.check_positions(positions)
        return self.rows[indices].to(dtype)


def check_table(weight: Tensor, name: str, offset: int = 0) -> None:
    """Raise `CheckpointError` unless ``weight`` can be a position table called ``name``.

    >>> check_table(torch.ones(4, 2), "wpe")  # nothing is wrong
    """
    if weight.ndim != 2:
        axes = "1 axis" if weight.ndim == 1 else f"{weight.ndim} axes"
        raise CheckpointError(
            f"{name!r} has {axes} ({dims(weight.shape)}), but a position table has two,"
            " positions × dimensions; choose another tensor"
        )
    positions, width = weight.shape[0] - offset, weight.shape[1]
    if offset < 0 or not 1 <= positions <= MAX_LENGTH or not 2 <= width <= MAX_DIM:
        raise CheckpointError(
            f"{name!r} has {positions} positions × {width} dimensions, but a position table here "
            f"has 1 to {MAX_LENGTH} × 2 to {MAX_DIM}; choose another tensor"
        )
    if weight.dtype != torch.float32:
        raise CheckpointError(f"{name!r} holds {weight.dtype}, but a table must be torch.float32")
    broken = ~weight.isfinite()
    if broken.any():
        row, column = divmod(int(broken.flatten().to(torch.uint8).argmax()), width)
        raise CheckpointError(
            f"{name!r} holds {float(weight[row, column])} at row {row}, column {column}, "
            "but every number of a position table must be finite"
        )


def dims(shape: tuple[int, ...]) -> str:
    """A shape in words: ``1 × 197 × 768``.

    >>> dims((1, 197, 768))
    '1 × 197 × 768'
    """
    return " × ".join(map(str, shape)) or "a single number"
