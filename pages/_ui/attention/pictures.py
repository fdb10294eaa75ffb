"""From attention to what the plot component takes: packed figures, cells, curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.attention.distance import DISTANCES, bound, random_vectors, same_vector, turning
from pages._ui.attention.inputs import Seen
from pages._ui.escaped import in_code, in_markdown
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
from pages._ui.figures.axes import TwoLayouts
from pages._ui.figures.shuffle import WIDE, Shuffled, columns_figure
from pages._ui.figures.shuffle import colours as column_colours
from pages._ui.figures.shuffle import trace_name as strip_name
from pages._ui.numbers import written
from pages._ui.server.kept import kept
from pages._ui.takeaway import Chart, show
from pages._ui.theme import tinted
from posembed_core import Encoding, RotaryEncoding
from posembed_core.attention.experiments import FourTerms, ShiftTest
from posembed_core.attention.shuffle import PermutationTest

COLUMNS, SHUFFLES, SHIFTS, FOURS, DISTANCES_KEY = (
    f"attention.{name}" for name in ("columns", "shuffles", "shifts", "four", "distances")
)
SHUFFLE_ALT = "The error f(PX) − P f(X) in each slot, without and with a causal mask."
SHIFT_ALT = "Changes of the scores, query × key."
FOUR_ALT = "Four terms of the scores and their sum, query × key."
DISTANCE_ALT = "Score against distance, for equal and for random queries and keys."
SHIFTED = Strip("shifted", "change", "Δs")
SUMS = ("+", "+", "+", "=")
_LETTERS = {1: 60, 2: 50, 3: 34, 4: 26, 5: 19}  # of a heading, by the number of columns


@dataclass(frozen=True)
class Cell:
    """A clicked cell: column of the page, query and key."""

    column: int
    query: int
    key: int


def weights_chart(heads: Sequence[Seen], titles: Sequence[str], words: Sequence[str]) -> Chart:
    """Weights, their difference from the first column's, and scores."""
    strips = (WEIGHTS, CHANGES, SCORES) if len(heads) > 1 else (WEIGHTS, SCORES)
    scores = [_allowed(head, head.scores) for head in heads]
    weights = [_allowed(head, head.weights) for head in heads]
    columns = range(len(heads))
    grid = _grid(
        _look(titles, strips, words),
        {
            trace_name(strip, column): cells[column]
            for column in columns
            for strip, cells in ((WEIGHTS, weights), (SCORES, scores))
        },
        {
            SCORES.name: _peak(scores),
            WEIGHTS.name: _peak(weights),
            CHANGES.name: _peak([weight - weights[0] for weight in weights[1:]]),
        },
        {
            trace_name(CHANGES, column): (trace_name(WEIGHTS, column), trace_name(WEIGHTS, 0))
            for column in columns[1:]
        },
    )
    return replace(grid, lens=_lens(titles, [*grid.arrays, *grid.differences], words))


def _lens(titles: Sequence[str], pictures: Sequence[str], words: Sequence[str]) -> live.lens.Lens:
    """A query, a key, and the weight between them in each column."""
    columns = range(len(titles))
    weights = ", ".join(f"{in_markdown(titles[column])} {{{column}}}" for column in columns)
    query, key = tinted("token", "query {up}"), tinted("position", "key {across}")
    group = live.lens.Group(
        tuple(pictures),
        f"{query}, {key}: α = {tinted('combined', weights)}",
        {f"{column}": [(trace_name(WEIGHTS, column), 1.0)] for column in columns},
        across=[in_code(word) for word in words],
        up=[in_code(word) for word in words],
    )
    return live.lens.Lens([group])


def weights_alt(heads: Sequence[Seen], titles: Sequence[str]) -> str:
    """The greatest score and weight of each column."""
    return "Scores and weights, query × key. " + " ".join(
        f"{title}: scores to {written(_peak([_allowed(head, head.scores)]), '.3g')}, "
        f"weights to {written(_peak([head.weights]), '.3g')}."
        for title, head in zip(titles, heads, strict=True)
    )


def show_weights(
    heads: Sequence[Seen], titles: Sequence[str], words: Sequence[str], key: str
) -> Cell | None:
    """The scores and weights on the page; a click, if any."""
    chart = weights_chart(heads, titles, words)
    return _cell(show(chart, key, weights_alt(heads, titles)).click)


def shift_chart(
    tests: Sequence[ShiftTest | str], titles: Sequence[str], words: Sequence[str], head: int
) -> Chart:
    """Shifted minus original scores; an encoding without a test has an empty picture."""
    nothing = torch.full((len(words), len(words)), torch.nan)
    cells = [nothing if isinstance(test, str) else test.change[head] for test in tests]
    return _grid(
        _look(titles, (SHIFTED,), words),
        {trace_name(SHIFTED, column): change for column, change in enumerate(cells)},
        # A rounding of 1e-15 must not fill the picture with colour.
        {SHIFTED.name: max(_peak(cells), 1e-3)},
    )


def four_chart(
    terms: FourTerms, names: Sequence[str], words: Sequence[str], head: int, untouched: FourTerms
) -> Chart:
    """The four terms and their sum on one colour scale, that of the ``untouched`` projections."""
    cells = [part[head] for part in parts_of(terms)]
    return _grid(
        _look((*names, "sum: the scores"), (SCORES,), words, SUMS),
        {trace_name(SCORES, column): term for column, term in enumerate(cells)},
        {SCORES.name: _peak([*cells, *(part[head] for part in parts_of(untouched))])},
    )


def parts_of(terms: FourTerms) -> tuple[Float[Tensor, "num_heads n n"], ...]:
    """The four, then their sum."""
    return (terms.content_content, terms.content_position, terms.position_content,
            terms.position_position, terms.scores)  # fmt: skip


def columns_chart(
    tests: Sequence[PermutationTest], titles: Sequence[str], words: Sequence[str], head: int
) -> Chart:
    """The words before and after the shuffle, and each one's output as a column below."""
    order = tuple(tests[0].permutation.tolist())
    look = Shuffled(tuple(titles), tuple(words), order, tests[0].before.shape[2])
    cells = {
        strip_name(time, index): outputs[head].T
        for index, test in enumerate(tests)
        for time, outputs in (("before", test.before), ("after", test.after))
    }
    peaks = [_peak([test.before[head], test.after[head]]) for test in tests]
    return Chart(
        columns_figure,
        (look,),
        {name: matrix.float().numpy() for name, matrix in cells.items()},
        patch=column_colours(look, peaks),
        exact=True,
        narrow_width=WIDE,
    )


def columns_alt(tests: Sequence[PermutationTest], words: Sequence[str], head: int) -> str:
    """The words in both orders, and what the strips are."""
    after = [words[index] for index in tests[0].permutation.tolist()]
    return (
        f"The tokens before the shuffle: {', '.join(words)}; after it: {', '.join(after)}. "
        f"Below, the outputs of head {head + 1} as columns of colour, before and after."
    )


def shuffle_picture(
    plain: Sequence[PermutationTest],
    masked: Sequence[PermutationTest],
    titles: Sequence[str],
    words: Sequence[str],
) -> TwoLayouts:
    """The error in each slot, with the words as they stand there after the shuffle."""
    order = plain[0].permutation.tolist()
    before, after = (
        [
            Curve(column, title, test.error.tolist())
            for column, (title, test) in enumerate(zip(titles, tests, strict=True))
        ]
        for tests in (plain, masked)
    )
    return shuffle_figure(before, after, [words[index] for index in order])


def show_shuffle(
    plain: Sequence[PermutationTest],
    masked: Sequence[PermutationTest],
    titles: Sequence[str],
    words: Sequence[str],
) -> None:
    """The errors on the page, in every slot."""
    figure, narrow = shuffle_picture(plain, masked, titles, words)
    live.plot(live.pack_figure(figure, narrow=narrow), key=SHUFFLES, alt=SHUFFLE_ALT)


def show_distance(encodings: Sequence[Encoding], titles: Sequence[str], head: int) -> None:
    """The curves of all encodings that have a score at such distances."""
    live.plot(
        packed_distance(tuple(encodings), tuple(titles), head),
        key=DISTANCES_KEY,
        alt=DISTANCE_ALT,
    )


@kept()
def packed_distance(
    encodings: tuple[Encoding, ...], titles: tuple[str, ...], head: int
) -> live.PackedFigure:
    """The figure of the distance view, ready to be sent."""
    figure, narrow = distance_picture(encodings, titles, head)
    return live.pack_figure(figure, narrow=narrow)


def distance_picture(encodings: Sequence[Encoding], titles: Sequence[str], head: int) -> TwoLayouts:
    """The figure of the distance view."""
    same, bounds, independent = [], [], []
    for column, (encoding, title) in enumerate(zip(encodings, titles, strict=True)):
        curve = same_vector(encoding, head)
        same.append(Curve(column, title, (curve - curve[0]).tolist()))
        if isinstance(encoding, RotaryEncoding):
            above = (bound(encoding) - 1) * turning(encoding)[0]
            bounds.append(Curve(column, title, above.tolist()))
        scores = random_vectors(encoding, head)
        error = scores.standard_error.tolist()
        independent.append(Curve(column, title, scores.mean.tolist(), error))
    return distance_figure(DISTANCES, same, bounds, independent)


def _look(
    titles: Sequence[str],
    strips: tuple[Strip, ...],
    words: Sequence[str],
    signs: tuple[str, ...] = (),
) -> Look:
    return Look(clipped(titles, _LETTERS[len(titles)]), strips, tuple(words), signs)


def _grid(
    look: Look,
    cells: Mapping[str, Tensor],
    peaks: Mapping[str, float],
    differences: Mapping[str, tuple[str, str]] | None = None,
) -> Chart:
    arrays = {name: matrix.numpy() for name, matrix in cells.items()}
    return Chart(
        grid_figure,
        (look,),
        arrays,
        patch=colours(look, peaks),
        differences=differences or {},
        exact=True,
    )


def _allowed(head: Seen, cells: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """The cells without those that the mask hides."""
    return cells.masked_fill(~head.allowed, torch.nan)


def _cell(click: live.events.Click | None) -> Cell | None:
    place = place_of(click.trace) if click else None
    if click is None or place is None or click.row is None or click.column is None:
        return None
    return Cell(place[1], click.row, click.column)


def _peak(cells: Sequence[Float[Tensor, "n n"]]) -> float:
    return max((float(matrix.nan_to_num(0.0).abs().max()) for matrix in cells), default=0.0)
