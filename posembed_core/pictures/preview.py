"""One combination at picture size: choose once, then a scale is a multiply-add on few cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from posembed_core.base import RotaryEncoding
from posembed_core.norms import row_products
from posembed_core.operations import Combined, Norms
from posembed_core.pictures.frame import Cells, Frame, peak_of
from posembed_core.pictures.limits import STILL_TO, Beyond, Limits, beyond, magnitude
from posembed_core.pictures.once import Once
from posembed_core.pictures.part import Part
from posembed_core.pictures.resolution import as_tensor, choose_columns, choose_rows

__all__ = ["Cells", "Frame", "Preview", "Reading"]

# Values that are computed at once: few enough for the processor's cache, and for memory.
_PIECE = 2**16


@dataclass(frozen=True, eq=False)
class Preview(Part):
    """A part of a combination at picture size; `at` gives what it shows at one scale.

    Each cell is one value of the matrix, at the same indices in all pictures (see `Span`).
    Addition, multiplication and score biases are linear in the scale, and ‖e + s·p‖² = ‖e‖² +
    2s⟨e,p⟩ + s²‖p‖², so `frame` costs the same at any size. A rotation, a concatenation and a
    LayerNorm are computed again for each scale, piece by piece, at the positions shown.
    """

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
        # ‖e + s·p‖ is convex in s: from 0 to 2 it is greatest at one of the two ends.
        norms = self._linear_norms(STILL_TO)
        position, combined = norms.position, norms.combined
        if self.operation == "concat":
            combined = (norms.token.square() + position.square()).sqrt()
        if self.layer_norm is not None:
            width = self.shape[1] * (2 if self.operation == "concat" else 1)
            combined = frame.norms.combined.clamp(min=width**0.5)  # its norm at every scale
        return max(token, float(position.max()), float(combined.max()))

    @property
    def _is_linear(self) -> bool:
        linear = self.encoding.is_linear and self.operation != "concat"
        return linear and self.layer_norm is None

    @cached_property
    def _once(self) -> Once:
        return Once(self.guard)

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
        e, p = self.vectors_of(self.rows)
        ee = row_products(e, e)
        if self.encoding.acts_inside:
            return ee, torch.zeros_like(ee), torch.zeros_like(ee)
        return ee, row_products(e, p, squared=self.operation == "multiply"), row_products(p, p)

    def _linear_norms(self, scale: float) -> Norms:
        ee, ep, pp = self._once("squares", self._summed_squares)
        # A multiple of fixed norms needs no pass over all positions.
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
        tokens, vectors = self.vectors_of(self.rows)
        positions = as_tensor(self.rows)
        rows = max(1, _PIECE // self.shape[1])
        for start in range(0, self.rows.cells, rows):
            at = slice(start, start + rows)
            piece = self.combined_at(tokens[at], vectors[at], positions[at], scale)
            if not self.encoding.is_linear:
                arrays.setdefault("position", []).append(self._columns_of(piece.position))
            halves = piece.combined.split(self.shape[1], dim=1)
            arrays["combined"].append(torch.cat(list(map(self._columns_of, halves)), dim=1))
            for kept, part in zip(squares, (piece.token, piece.moved, piece.combined), strict=True):
                kept.append(row_products(part, part))
        fresh = {name: torch.cat(parts) for name, parts in arrays.items()}
        return fresh, Norms(*(torch.cat(kept).sqrt_() for kept in squares))


@dataclass(frozen=True, eq=False)
class Reading:
    """What a preview shows at one scale: all that is drawn, written and taken away.

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
