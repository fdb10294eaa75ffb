"""One combination at picture size: choose once, then a scale is a multiply-add on few cells."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from posembed_core.base import BiasEncoding, RotaryEncoding
from posembed_core.combination import check_fit
from posembed_core.encoding import Encoding, Excerpt
from posembed_core.norms import row_products
from posembed_core.operations import Combined, LayerNorm, Norms, Operation
from posembed_core.parameters import EncodingError
from posembed_core.pictures.frame import Cells, Frame, peak_of
from posembed_core.pictures.limits import STILL_TO, Beyond, Limits, beyond, magnitude
from posembed_core.pictures.once import Once
from posembed_core.pictures.resolution import (
    MAX_COLUMNS,
    MAX_ROWS,
    Span,
    as_tensor,
    choose_columns,
    choose_rows,
    span,
)

__all__ = ["Cells", "Frame", "Preview", "Reading"]

# Values of a piece that is worked on at once: small enough for the cache, and for memory.
_PIECE = 2**16


@dataclass(frozen=True, eq=False)
class Preview:
    """Tokens and an encoding, combined as `posembed_core.combine` does, at picture size.

    ``tokens`` gives the token vectors (n, d), ``vectors`` the encoding's own ones where it has any,
    of the positions that a span shows and no others: what isn't shown isn't computed. They are
    asked for when they are needed and not kept, so that whoever caches previews doesn't hold on to
    whole matrices. ``window`` is the part shown: first and last position, first
    and last channel. ``guard`` is entered while whole matrices are at work, so that a caller can
    bound how many are. `at` gives what is shown at one scale.

    Each cell is one value of the matrix, the same one in all pictures (see `Span`). Addition,
    multiplication and score biases are linear in the scale, and ‖e + s·p‖² = ‖e‖² + 2s⟨e,p⟩ +
    s²‖p‖², so `frame` costs the same at any size. A rotation, a concatenation and a LayerNorm are
    computed anew, piece by piece, for the positions shown.
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
        """The channels shown."""
        # What travels while the scale is dragged stays below 300 kB, and below 600 kB otherwise.
        most = MAX_COLUMNS
        if not self.encoding.is_linear or self.operation == "concat":
            most = MAX_COLUMNS // 2
        elif self.operation == "multiply":
            most = MAX_COLUMNS * 5 // 8
        return span(self.shape[1], most, *self.window[2:], of_channels=True)

    @cached_property
    def queries(self) -> Span:
        """The query positions of a score bias: the picture's other axis."""
        return span(self.shape[0], MAX_COLUMNS)

    def at(self, scale: float, fitted_at: float | None = None) -> Reading:
        """What is shown at ``scale``; each number is computed when it is read.

        ``fitted_at`` is the scale whose pictures the colours fit, by default none; see `limits`.
        """
        return Reading(self, scale, fitted_at)

    def frame(self, scale: float) -> Frame:
        """The picture at ``scale``."""
        if self._is_linear:
            arrays, mixes, norms = self._fixed, self._mixes(scale), self._linear_norms(scale)
        else:
            fixed = self._fixed
            with self.guard():
                fresh, norms = self._anew(scale)
            arrays = fixed | fresh
            mixes = {name: {name: 1.0} for name in ("token", "position", "combined")}
            if self.encoding.is_linear:
                mixes["position"] = {"position": scale}
        rough = Frame(arrays, mixes, norms, 0.0)
        # A bias or a cosine is another kind of number than a vector's: it doesn't set the range.
        shared = [name for name in mixes if name != "position" or not self.is_of_another_kind]
        return replace(rough, peak=max(self._peak(rough, name) for name in shared))

    def _peak(self, frame: Frame, picture: str) -> float:
        (array, factor), *more = frame.mixes[picture].items()
        if more or array not in self._fixed:
            return peak_of(frame.cells(picture))
        # A multiple of what stays the same.
        return abs(factor) * self._once(f"peak of {array}", lambda: peak_of(frame.arrays[array]))

    def limits(self, frame: Frame, fitted_at: float | None = None) -> Limits:
        """Where colours and norms end, whatever the scale; ``frame`` is any of this preview.

        ``fitted_at`` is a scale whose three pictures set the colours instead of e and p.
        """
        return self._limits(fitted_at, lambda: self._find_limits(frame, fitted_at))

    def _find_limits(self, frame: Frame, fitted_at: float | None) -> Limits:
        highest = self._highest(frame)
        if fitted_at is not None:
            fitted = self.frame(fitted_at)
            return Limits(fitted.peak, magnitude(fitted.cells("position")), highest)
        vectors = [frame.arrays["token"]]
        own_peak = 1.0  # a cosine's
        if self.shows_bias:
            own_peak = magnitude(frame.arrays["position"])
        elif self.encoding.is_linear:
            vectors.append(frame.arrays["position"])
        return Limits(max(map(peak_of, vectors)), own_peak, highest)

    def _highest(self, frame: Frame) -> float:
        token = float(frame.norms.token.max())
        if isinstance(self.encoding, RotaryEncoding):
            # ‖R e − e‖ is 2 ‖e‖ after half a turn, and some scalings make R e longer.
            return token * (1 + self.encoding.attention_factor(self.shape[0]))
        # ‖e + s·p‖ is convex in s: from 0 to 2 it is greatest at one of both ends.
        norms = self._linear_norms(STILL_TO)
        position, combined = norms.position, norms.combined
        if self.operation == "concat":
            combined = (norms.token.square() + position.square()).sqrt()
        if self.layer_norm is not None:
            width = self.shape[1] * (2 if self.operation == "concat" else 1)
            combined = frame.norms.combined.clamp(min=width**0.5)  # that is it at every scale
        return max(token, float(position.max()), float(combined.max()))

    def exact(self, row: int, scale: float) -> Combined:
        """The whole vectors of one position: e, what position adds (no bias), and h."""
        at = Span(row, row + 1)
        # Kept, so that a dragged scale asks for no whole matrix.
        token, vector = self._few_rows(row, lambda: tuple(m.clone() for m in self._vectors(at)))
        return self._piece(token, vector, as_tensor(at), scale)

    def exact_rows(self, at: slice, scale: float) -> Combined:
        """The whole vectors of the positions ``at``, as `exact` gives them of one."""
        rows = Span(at.start, at.stop)
        with self.guard():
            return self._piece(*self._vectors(rows), as_tensor(rows), scale)

    def bias(self, query: int, key: int) -> float:
        """The bias of the head shown for a query and a key, before the scale."""
        return float(self._bias(torch.tensor([query]), torch.tensor([key])))

    def bias_rows(self, at: slice, scale: float) -> Tensor:
        """``scale`` times the bias of the head shown, of the queries ``at`` on every key."""
        keys = torch.arange(self.shape[0])
        return scale * self._bias(keys[at], keys)

    @property
    def is_of_another_kind(self) -> bool:
        """Whether the middle picture's numbers are no components of vectors: a bias, a cosine."""
        return self.shows_bias or not self.encoding.is_linear

    @property
    def shows_bias(self) -> bool:
        """Whether the middle picture is a score bias (query × key) and not position vectors."""
        return isinstance(self.encoding, BiasEncoding)

    @property
    def _is_linear(self) -> bool:
        linear = self.encoding.is_linear and self.operation != "concat"
        return linear and self.layer_norm is None

    @cached_property
    def _once(self) -> Once:
        return Once(self.guard)

    @cached_property
    def _few_rows(self) -> Once:
        return Once(self.guard, most=16)

    @cached_property
    def _limits(self) -> Once:
        return Once(most=16)

    @property
    def _fixed(self) -> dict[str, Cells]:
        return self._once("fixed", self._chosen)

    def _chosen(self) -> dict[str, Cells]:
        # Copies, since a view would keep the whole matrix in memory.
        tokens = self._columns_of(choose_rows(self.tokens(), self.rows))
        arrays = {"token": tokens}
        if self.shows_bias:
            # Keys lie along the picture's rows, as positions do in the other pictures.
            arrays["position"] = self._bias(as_tensor(self.queries), as_tensor(self.rows)).T
        elif self.vectors is not None:
            arrays["position"] = self._columns_of(self.vectors(self.rows))
            if self.operation == "multiply":
                arrays["product"] = tokens * arrays["position"]
        return {
            name: cells.clone(memory_format=torch.contiguous_format)
            for name, cells in arrays.items()
        }

    def _columns_of(self, matrix: Tensor) -> Tensor:
        return choose_columns(matrix, self.columns)

    def _mixes(self, scale: float) -> dict[str, dict[str, float]]:
        if self.encoding.acts_inside:
            combined = {"token": 1.0}
        elif self.operation == "multiply":
            combined = {"product": scale}
        else:
            combined = {"token": 1.0, "position": scale}
        return {"token": {"token": 1.0}, "position": {"position": scale}, "combined": combined}

    def _summed_squares(self) -> tuple[Tensor, Tensor, Tensor]:
        # ‖e‖², ⟨e, p⟩ and ‖p‖² (for a product: ‖e‖², ‖e ∘ p‖² and ‖p‖²). Products in float64 as
        # well, else a norm where e and s·p nearly cancel is noise.
        e, p = self._vectors(self.rows)
        ee = row_products(e, e)
        if self.encoding.acts_inside:
            return ee, torch.zeros_like(ee), torch.zeros_like(ee)
        return ee, row_products(e, p, squared=self.operation == "multiply"), row_products(p, p)

    def _vectors(self, rows: Span) -> tuple[Tensor, Tensor]:
        # A bias or a rotation has no vectors of its own: theirs are empty.
        tokens = choose_rows(self.tokens(), rows)
        if self.vectors is None:
            return tokens, torch.empty(rows.cells, 0)
        return tokens, self.vectors(rows)

    def _linear_norms(self, scale: float) -> Norms:
        ee, ep, pp = self._once("squares", self._summed_squares)
        # A multiple of what stays the same takes no pass over all positions.
        token = self._once("token norms", ee.sqrt)
        position = abs(scale) * self._once("position norms", pp.sqrt)
        if self.encoding.acts_inside:
            combined = token
        elif self.operation == "multiply":
            combined = abs(scale) * self._once("product norms", ep.sqrt)
        else:
            # Rounding may leave a tiny negative square where e and s·p cancel.
            squares = ee + scale * (2 * ep + scale * pp)
            combined = squares.clamp_(min=0).sqrt_()
        return Norms(token=token, position=position, combined=combined)

    def _anew(self, scale: float) -> tuple[dict[str, Cells], Norms]:
        arrays: dict[str, list[Tensor]] = {"combined": []}
        squares: list[list[Tensor]] = [[], [], []]
        tokens, vectors = self._vectors(self.rows)
        positions = as_tensor(self.rows)
        rows = max(1, _PIECE // self.shape[1])
        for start in range(0, self.rows.cells, rows):
            at = slice(start, start + rows)
            piece = self._piece(tokens[at], vectors[at], positions[at], scale)
            if not self.encoding.is_linear:
                arrays.setdefault("position", []).append(self._columns_of(piece.position))
            halves = piece.combined.split(self.shape[1], dim=1)
            arrays["combined"].append(torch.cat(list(map(self._columns_of, halves)), dim=1))
            for kept, part in zip(squares, (piece.token, piece.moved, piece.combined), strict=True):
                kept.append(row_products(part, part))
        fresh = {name: torch.cat(parts) for name, parts in arrays.items()}
        return fresh, Norms(*(torch.cat(kept).sqrt_() for kept in squares))

    def _piece(self, token: Tensor, vectors: Tensor, positions: Tensor, scale: float) -> Combined:
        # A bias is no vector of a position: here it is empty, and its picture has its own cells.
        excerpt = Excerpt(vectors, seq_len=self.shape[0])
        combined = self.encoding.contribute(token, positions, scale, self.operation, excerpt)
        return combined.normalised(self.layer_norm)

    def _bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        if not isinstance(self.encoding, BiasEncoding):
            raise EncodingError(f"{self.encoding.title} has no bias to show")
        return self.encoding.bias(queries, keys, heads=slice(self.head, self.head + 1))[0]


@dataclass(frozen=True, eq=False)
class Reading:
    """What a preview shows at one scale: all that is drawn, said and taken away of it.

    Each number is computed when it is first read, and nothing that doesn't depend on the scale is
    computed twice.

    >>> from posembed_core import create
    >>> encoding = create("sinusoidal", embed_dim=4)
    >>> preview = Preview(
    ...     shape=(3, 4),
    ...     tokens=lambda: torch.zeros(3, 4),
    ...     encoding=encoding,
    ...     vectors=lambda shown: encoding.table(shown.indices),
    ... )
    >>> preview.at(0.5).row(0).combined
    tensor([[0.0000, 0.5000, 0.0000, 0.5000]])
    """

    preview: Preview
    scale: float
    fitted_at: float | None = None

    @cached_property
    def frame(self) -> Frame:
        """The picture's cells, how they are mixed, and the norms."""
        return self.preview.frame(self.scale)

    @property
    def norms(self) -> Norms:
        """The norms of the positions shown."""
        return self.frame.norms

    @cached_property
    def highest(self) -> float:
        """The greatest of the norms."""
        norms = self.norms
        return max(float(norm.max()) for norm in (norms.token, norms.position, norms.combined))

    @property
    def limits(self) -> Limits:
        """Where colours and norms end, whatever the scale."""
        return self.preview.limits(self.frame, self.fitted_at)

    def beyond(self, pictures: tuple[str, ...], end: float) -> Beyond:
        """Which cells of these pictures lie beyond ±``end``."""
        return self._counted((pictures, end), lambda: beyond(self.frame, pictures, end))

    @cached_property
    def _counted(self) -> Once:
        return Once()

    def row(self, position: int) -> Combined:
        """The whole vectors of one position; see `Preview.exact`."""
        return self.preview.exact(position, self.scale)

    def rows(self, at: slice) -> Combined:
        """The whole vectors of some positions."""
        return self.preview.exact_rows(at, self.scale)

    def bias(self, at: slice) -> Tensor:
        """The score bias of some queries on every key, times the scale; see `Preview.bias_rows`."""
        return self.preview.bias_rows(at, self.scale)
