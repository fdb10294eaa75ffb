"""What the comparison shows of an encoding: its picture, similarity, norms, and facts in a row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.compare.groups import (
    combine_link,
    group_of,
    length_of,
    short_title,
    sized,
    text_of_link,
)
from pages._ui.escaped import in_html
from pages._ui.families import words_of
from pages._ui.figures.axes import TwoLayouts
from pages._ui.figures.compare import Place, Small, norms_figure, pictures_figure
from pages._ui.numbers import written
from pages._ui.server.kept import kept
from posembed_core import Encoding, combine, encodings
from posembed_core.encoding import Excerpt
from posembed_core.extrapolation import beyond
from posembed_core.operations import Norms
from posembed_core.tokens.random_tokens import random_tokens

_STYLE = Path(__file__).with_name("facts.css").read_text("utf-8")
VIEWS = {"picture": "Picture", "similarity": "Similarity of positions", "norms": "Norms"}
SAID = {
    "picture": (
        "What each encoding contributes. Door 1: the vectors p. Door 2: the bias of one head "
        "(the table counts all), query × key. Door 3: the cosine of the angle by which a dimension "
        "turns, or the vectors that the last query sees at each key. Zero has the page's own "
        "colour, blue is below, red above; the bar over each picture goes from its least to its "
        "greatest value. Click a picture to open it in Combine."
    ),
    "similarity": (
        "The score that position alone gives to a query at one position and a key at another, the "
        "same vector everywhere: pᵢ · pⱼ for the input, the bias itself for scores, q = k = all "
        "ones where position acts on projections. Zero has the page's own colour; the bar over "
        "each picture goes from its least to its greatest value. Where all scores are far from "
        "0, their mean is taken away, and the heading says so. Click a picture to open "
        "its encoding in Combine."
    ),
    "norms": (
        "Norms per position of random tokens e (the handbook's; blue), of what position adds, "
        "h − e (orange, dotted), and of both, h (green, dashed); all on one scale. What acts "
        "inside attention leaves h = e. Click a picture to open its encoding in Combine."
    ),
}


@kept()
def packed(
    slugs: tuple[str, ...],
    view: str,
    length: int,
    dimension: int,
    head: int,
    around: tuple[tuple[str, str], ...] = (),
) -> live.PackedFigure:
    """The small multiples of a view, ready to be sent; their links keep what is ``around``."""
    figure, narrow = figure_of(slugs, view, length, dimension, head, around)
    return live.pack_figure(figure, narrow=narrow)


def figure_of(
    slugs: tuple[str, ...],
    view: str,
    length: int,
    dimension: int,
    head: int,
    around: tuple[tuple[str, str], ...] | None = None,
) -> TwoLayouts:
    """The small multiples of a view, and their layout on a phone.

    around: what their links have besides the encoding's settings; a file has no links, and None.
    """
    compared = [sized(slug, length, dimension) for slug in slugs]
    places = [
        Place(
            short_title(slug),
            group_of(slug),
            ""
            if around is None
            else text_of_link({**combine_link(slug, length, dimension, head), **dict(around)}),
        )
        for slug in slugs
    ]
    if view == "norms":
        lines = [
            _curves(encoding, norms(encoding, length_of(encoding, length), dimension))
            for encoding in compared
        ]
        return norms_figure(places, lines)
    pictures = [
        _small(encoding, place, view, cells_of(encoding, view, length_of(encoding, length), head))
        for encoding, place in zip(compared, places, strict=True)
    ]
    return pictures_figure(pictures, "value" if view == "picture" else "score")


def norms(encoding: Encoding, length: int, dimension: int) -> Norms:
    """Norms of words, positions and both, for the handbook's random words."""
    return combine(random_tokens(length, dimension), encoding).norms()


def facts(slug: str, length: int, dimension: int) -> dict[str, str]:
    """What the table says of an encoding, by the headings of its columns."""
    cls, encoding = encodings()[slug], sized(slug, length, dimension)
    answer = beyond(encoding)
    lengths = norms(encoding, length_of(encoding, length), dimension)
    return {
        "encoding": short_title(slug),
        "door": cls.door,
        "year": f"{cls.year}",
        "numbers learned": f"{encoding.parameter_count:,}",
        "beyond training?": f"{answer.answer}: {answer.reason}",
        "‖h − e‖": "—" if cls.acts_inside else written(lengths.position.mean(), ".3f"),
        "‖h‖": written(lengths.combined.mean(), ".3f"),
        "reference": cls.reference,
    }


def facts_table(slugs: Sequence[str], length: int, dimension: int) -> str:
    """One row for each encoding, in HTML; on a phone, a card for each."""
    rows = [facts(slug, length, dimension) for slug in slugs]
    heads = "".join(f'<th scope="col">{head}</th>' for head in rows[0])
    lines = []
    for row in rows:
        name, *others = row.items()
        cells = (f'<td data-head="{head}">{in_html(value)}</td>' for head, value in others)
        lines.append(f'<tr><th scope="row">{in_html(name[1])}</th>{"".join(cells)}</tr>')
    table = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<style>{_STYLE}</style><table class="compare-facts">{table}</table>'


def cells_of(
    encoding: Encoding, view: str, length: int, head: int
) -> Float[Tensor, "rows columns"]:
    """The matrix of an encoding's picture: positions × dimensions, or queries × keys, float32."""
    return (_contribution if view == "picture" else _scores)(encoding, length, head).to(
        torch.float32
    )


def _curves(encoding: Encoding, lengths: Norms) -> dict[str, list[float]]:
    terms = ["token", "position", "combined"]
    if encoding.acts_inside:  # nothing is added to the vectors
        terms.remove("position")
    return {term: getattr(lengths, term).tolist() for term in terms}


def _small(
    encoding: Encoding, place: Place, view: str, cells: Float[Tensor, "rows columns"]
) -> Small:
    middle = words_of(encoding).middle
    if view == "similarity" or middle.up == "query":
        return Small(place, cells.numpy(), "key", "query")
    return Small(place, cells.T.numpy(), middle.across, middle.up)


def _contribution(encoding: Encoding, length: int, head: int) -> Float[Tensor, "rows columns"]:
    nothing = torch.zeros(length, encoding.vector_width or 1)
    seen = Excerpt(seq_len=length, query=length - 1, heads=slice(head, head + 1))
    cells = encoding.contribute(nothing, torch.arange(length), excerpt=seen).position
    return cells[0] if cells.ndim == 3 else cells  # a bias has an axis for its heads


def _scores(encoding: Encoding, length: int, head: int) -> Float[Tensor, "n n"]:
    if encoding.door == "scores":
        return _contribution(encoding, length, head)
    positions, width = torch.arange(length), encoding.vector_width or 1
    # Vectors that say nothing themselves, but ones where position needs something to act on.
    value = 1.0 if encoding.door == "projections" else 0.0
    vectors = torch.full((length, width), value, dtype=torch.float64)
    factor = encoding.softmax_scale(width)
    return encoding.scores(vectors, vectors, positions, positions, softmax_scale=factor)
