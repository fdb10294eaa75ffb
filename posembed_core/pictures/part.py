"""The part of a combination that is shown: which positions and dimensions, and their vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from posembed_core.base import BiasEncoding
from posembed_core.combination import check_fit
from posembed_core.encoding import Encoding, Excerpt
from posembed_core.operations import Combined, LayerNorm, Operation
from posembed_core.parameters import EncodingError
from posembed_core.pictures.once import Once
from posembed_core.pictures.resolution import (
    MAX_COLUMNS,
    MAX_ROWS,
    Span,
    as_tensor,
    choose_rows,
    span,
)


@dataclass(frozen=True, eq=False)
class Part:
    """A window on tokens and an encoding, combined as `posembed_core.combine` does.

    ``tokens`` gives the token vectors (n, d), ``vectors`` those of the encoding, where it has any,
    at the positions of a span and no others: what isn't shown isn't computed. Both are called when
    their result is needed, and it is not kept, so that whoever caches parts doesn't hold on to
    whole matrices. ``window`` is what is shown: the first and last position, then the first and
    last dimension; None stands for the matrix's end. ``guard`` is entered while whole matrices are
    in use, so that a caller can bound how many are in memory.
    """

    shape: tuple[int, int]
    tokens: Callable[[], Tensor]
    encoding: Encoding
    vectors: Callable[[Span], Tensor] | None = None
    operation: Operation = "add"
    layer_norm: LayerNorm | None = None
    head: int = 0
    window: tuple[float | None, float | None, float | None, float | None] = (None,) * 4
    guard: Callable[[], AbstractContextManager[Any]] = nullcontext

    def __post_init__(self) -> None:
        check_fit(self.encoding, self.shape[1], self.operation)
        heads = getattr(self.encoding, "num_heads", 1)
        if self.shows_bias and not 0 <= self.head < heads:
            raise EncodingError(
                f"head {self.head + 1} can't be shown, {self.encoding.title} has {heads} heads "
                f"here; choose one from 1 to {heads}, or more heads",
                field="head",
                nearest=min(max(self.head + 1, 1), heads),
            )

    @cached_property
    def rows(self) -> Span:
        """The positions shown."""
        return span(self.shape[0], MAX_ROWS, *self.window[:2])

    @cached_property
    def columns(self) -> Span:
        """The dimensions shown."""
        # What is sent during a drag of the scale stays below 300 kB, and below 600 kB otherwise.
        most = MAX_COLUMNS
        if not self.encoding.is_linear or self.operation == "concat":
            most = MAX_COLUMNS // 2
        elif self.operation == "multiply":
            most = MAX_COLUMNS * 5 // 8
        return span(self.shape[1], most, *self.window[2:], of_dimensions=True)

    @cached_property
    def queries(self) -> Span:
        """The query positions of a score bias: the picture's other axis."""
        return span(self.shape[0], MAX_COLUMNS)

    def exact(self, row: int, scale: float) -> Combined:
        """The whole vectors of one position: e, what position adds (no bias), and h."""
        at = Span(row, row + 1)
        # Kept, so that a dragged scale needs no whole matrix.
        token, vector = self._few_rows(row, lambda: tuple(m.clone() for m in self.vectors_of(at)))
        return self.combined_at(token, vector, as_tensor(at), scale)

    def exact_rows(self, at: slice, scale: float) -> Combined:
        """The whole vectors of the positions ``at``, as `exact` gives them for one."""
        rows = Span(at.start, at.stop)
        with self.guard():
            return self.combined_at(*self.vectors_of(rows), as_tensor(rows), scale)

    def bias(self, query: int, key: int) -> float:
        """The bias of the head shown for a query and a key, before the scale."""
        return float(self._bias(torch.tensor([query]), torch.tensor([key])))

    def bias_rows(self, at: slice, scale: float) -> Tensor:
        """``scale`` times the bias of the head shown, of the queries ``at`` on every key."""
        keys = torch.arange(self.shape[0])
        return scale * self._bias(keys[at], keys)

    @property
    def is_of_another_kind(self) -> bool:
        """Whether the middle picture's numbers are not components of vectors: a bias, a cosine."""
        return self.shows_bias or not self.encoding.is_linear

    @property
    def shows_bias(self) -> bool:
        """Whether the middle picture is a score bias (query × key) and not position vectors."""
        return isinstance(self.encoding, BiasEncoding)

    @cached_property
    def _few_rows(self) -> Once:
        return Once(self.guard, most=16)

    def vectors_of(self, rows: Span) -> tuple[Tensor, Tensor]:
        """Vectors of tokens and positions, (rows, d); a bias or a rotation has none: (rows, 0)."""
        tokens = choose_rows(self.tokens(), rows)
        if self.vectors is None:
            return tokens, torch.empty(rows.cells, 0)
        return tokens, self.vectors(rows)

    def combined_at(
        self, token: Tensor, vectors: Tensor, positions: Tensor, scale: float
    ) -> Combined:
        """What `vectors_of` gave at these positions, combined; a bias has no part in it."""
        excerpt = Excerpt(vectors, seq_len=self.shape[0])
        combined = self.encoding.contribute(token, positions, scale, self.operation, excerpt)
        return combined.normalised(self.layer_norm)

    def _bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        if not isinstance(self.encoding, BiasEncoding):
            raise EncodingError(f"{self.encoding.title} has no bias to show")
        return self.encoding.bias(queries, keys, heads=slice(self.head, self.head + 1))[0]
