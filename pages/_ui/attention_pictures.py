"""From attention to what the plot component takes: packed figures, cells, curves."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from cachetools import LRUCache, cached
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.attention_distance import DISTANCES, bound, random_vectors, same_vector
from pages._ui.attention_inputs import Seen
from pages._ui.figures.attention import (
    CHANGES,
    SCORES,
    WEIGHTS,
    Look,
    Strip,
    clipped,
    colours,
    grid_figure,
    place_of,
    trace_name,
)
from pages._ui.figures.attention_lines import Curve, distance_figure, shuffle_figure
from posembed_core import Encoding, RotaryEncoding
from posembed_core.probes import FourTerms, PermutationTest, ShiftTest

SHIFTED = Strip("shifted", "change", "Δs")
SUMS = ("+", "+", "+", "=")
_LETTERS = {1: 60, 2: 50, 3: 34, 4: 26, 5: 19}  # of a heading, by the number of columns


@dataclass(frozen=True)
class Cell:
    """A clicked cell: column of the page, query and key."""

    column: int
    query: int
    key: int


def show_weights(
    found: Sequence[Seen], titles: Sequence[str], words: Sequence[str], key: str
) -> Cell | None:
    """Scores, weights and the weights' difference from the first column's; a click, if any."""
    strips = (SCORES, WEIGHTS, CHANGES) if len(found) > 1 else (SCORES, WEIGHTS)
    look = _look(titles, strips, words)
    scores = [one.scores.masked_fill(~one.allowed, torch.nan) for one in found]
    weights = [one.weights.masked_fill(~one.allowed, torch.nan) for one in found]
    arrays, mixes = {}, {}
    for column, (score, weight) in enumerate(zip(scores, weights, strict=True)):
        for strip, cells in ((SCORES, score), (WEIGHTS, weight)):
            name = trace_name(strip, column)
            arrays[name] = live.pack_array(cells.numpy(), exact=True)
            mixes[name] = {name: 1.0}
        if column:
            own, first = (trace_name(WEIGHTS, which) for which in (column, 0))
            mixes[trace_name(CHANGES, column)] = {own: 1.0, first: -1.0}
    peaks = {
        SCORES.name: _peak(scores),
        WEIGHTS.name: _peak(weights),
        CHANGES.name: _peak([weight - weights[0] for weight in weights[1:]]),
    }
    alt = "Scores and weights, query × key. " + " ".join(
        f"{title}: scores to {_peak([score]):.3g}, weights to {_peak([weight]):.3g}."
        for title, score, weight in zip(titles, scores, weights, strict=True)
    )
    return _cell(_draw(look, arrays, mixes, peaks, key, alt))


def show_shift(
    tests: Sequence[ShiftTest | str], titles: Sequence[str], words: Sequence[str], head: int
) -> None:
    """Shifted minus original scores; an encoding without a test has an empty picture."""
    look = _look(titles, (SHIFTED,), words)
    nothing = torch.full((len(words), len(words)), torch.nan)
    cells = [nothing if isinstance(test, str) else test.change[head] for test in tests]
    arrays = {
        trace_name(SHIFTED, column): live.pack_array(one.numpy(), exact=True)
        for column, one in enumerate(cells)
    }
    # A rounding of 1e-15 shall not fill the picture with colour.
    peaks = {SHIFTED.name: max(_peak(cells), 1e-3)}
    mixes = {name: {name: 1.0} for name in arrays}
    _draw(look, arrays, mixes, peaks, "attention.shifts", "Changes of the scores, query × key.")


def show_four(terms: FourTerms, names: Sequence[str], words: Sequence[str], head: int) -> None:
    """The four terms and their sum on one colour scale."""
    look = _look((*names, "sum: the scores"), (SCORES,), words, SUMS)
    parts = (terms.content_content, terms.content_position, terms.position_content,
             terms.position_position, terms.scores)  # fmt: skip
    cells = [part[head] for part in parts]
    arrays = {
        trace_name(SCORES, column): live.pack_array(one.numpy(), exact=True)
        for column, one in enumerate(cells)
    }
    mixes = {name: {name: 1.0} for name in arrays}
    alt = "Four terms of the scores and their sum, query × key."
    _draw(look, arrays, mixes, {SCORES.name: _peak(cells)}, "attention.four", alt)


def show_shuffle(
    plain: Sequence[PermutationTest],
    masked: Sequence[PermutationTest],
    titles: Sequence[str],
    words: Sequence[str],
) -> None:
    """The error in each slot, with the words as they stand there after the shuffle."""
    order = plain[0].permutation.tolist()
    before, after = (
        [
            Curve(column, title, test.error.tolist())
            for column, (title, test) in enumerate(zip(titles, tests, strict=True))
        ]
        for tests in (plain, masked)
    )
    figure, narrow = shuffle_figure(before, after, [words[index] for index in order])
    live.plot(
        live.pack_figure(figure, narrow=narrow),
        key="attention.shuffles",
        alt="The error f(PX) − P f(X) in each slot, without and with a causal mask.",
    )


def show_distance(encodings: Sequence[Encoding], titles: Sequence[str], head: int) -> None:
    """The curves of all encodings that have a score at such distances."""
    live.plot(
        packed_distance(tuple(encodings), tuple(titles), head),
        key="attention.distances",
        alt="Score against distance, for equal and for random queries and keys.",
    )


@cached(LRUCache(64), condition=threading.Condition())
def packed_distance(
    encodings: tuple[Encoding, ...], titles: tuple[str, ...], head: int
) -> live.PackedFigure:
    """The figure of the distance view."""
    same, bounds, independent = [], [], []
    for column, (encoding, title) in enumerate(zip(encodings, titles, strict=True)):
        curve = same_vector(encoding, head)
        same.append(Curve(column, title, (curve - curve[0]).tolist()))
        if isinstance(encoding, RotaryEncoding):
            above = (bound(encoding) - 1) * curve[0]
            bounds.append(Curve(column, title, above.tolist()))
        found = random_vectors(encoding, head)
        error = found.standard_error.tolist()
        independent.append(Curve(column, title, found.mean.tolist(), error))
    figure, narrow = distance_figure(DISTANCES, same, bounds, independent)
    return live.pack_figure(figure, narrow=narrow)


@cached(LRUCache(256), condition=threading.Condition())
def _packed(look: Look) -> live.PackedFigure:
    figure, narrow = grid_figure(look)
    return live.pack_figure(figure, narrow=narrow)


def _look(
    titles: Sequence[str],
    strips: tuple[Strip, ...],
    words: Sequence[str],
    signs: tuple[str, ...] = (),
) -> Look:
    return Look(clipped(titles, _LETTERS[len(titles)]), strips, tuple(words), signs)


def _draw(
    look: Look,
    arrays: Mapping[str, live.PackedArray],
    mixes: Mapping[str, Mapping[str, float]],
    peaks: Mapping[str, float],
    key: str,
    alt: str,
) -> live.Click | None:
    events = live.plot(
        _packed(look), key=key, arrays=arrays, mixes=mixes, patch=colours(look, peaks), alt=alt
    )
    return events.click


def _cell(click: live.Click | None) -> Cell | None:
    place = place_of(click.trace) if click else None
    if click is None or place is None or click.row is None or click.column is None:
        return None
    return Cell(place[1], click.row, click.column)


def _peak(cells: Sequence[Float[Tensor, "n n"]]) -> float:
    return max((float(one.nan_to_num(0.0).abs().max()) for one in cells), default=0.0)
