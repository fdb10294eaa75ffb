"""What the comparison shows of an encoding: its picture, similarity, norms, and facts in a row."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.controls.controls import sizes
from pages._ui.families import words_of
from pages._ui.figures.axes import TwoLayouts
from pages._ui.figures.compare import Small, norms_figure, pictures_figure
from pages._ui.server.kept import kept
from posembed_core import Encoding, combine, create, encodings
from posembed_core.encoding import Excerpt
from posembed_core.extrapolation import beyond
from posembed_core.operations import Norms
from posembed_core.tokens.random_tokens import random_tokens

NUM_HEADS = 8
VIEWS = {"picture": "Picture", "similarity": "Similarity of positions", "norms": "Norms"}
SAID = {
    "picture": (
        "What each encoding contributes. Input: the vectors p. Rotation: the cosine of each "
        "channel's angle. Score bias: the bias of one head, query × key. Added vectors: those that "
        "the last query sees at each key. Blue is below 0, red above; every picture has a scale of "
        "its own."
    ),
    "similarity": (
        "The score that position alone gives to a query at one position and a key at another, the "
        "same vector everywhere: pᵢ · pⱼ for the input, the bias itself for scores, q = k = all "
        "ones where position acts on projections. Every picture has a scale of its own."
    ),
    "norms": (
        "Norms per position of random words e (the handbook's; blue), of what position adds, s·p "
        "(orange, dotted; for a rotation h − e), and of both, h (green, dashed); all on one scale. "
        "Biases and added vectors act inside attention and leave h = e."
    ),
}


def sized(slug: str, length: int, dimension: int) -> Encoding:
    """The encoding in these sizes."""
    cls = encodings()[slug]
    heads = {"num_heads": NUM_HEADS} if "num_heads" in cls.parameters() else {}
    return create(slug, **sizes(cls, length, dimension), **heads)


@kept()
def packed(
    slugs: tuple[str, ...], view: str, length: int, dimension: int, head: int
) -> live.PackedFigure:
    """The small multiples of a view, ready to be sent."""
    figure, narrow = figure_of(slugs, view, length, dimension, head)
    return live.pack_figure(figure, narrow=narrow)


def figure_of(
    slugs: tuple[str, ...], view: str, length: int, dimension: int, head: int
) -> TwoLayouts:
    """The small multiples of a view, and their layout on a phone."""
    titles = [short_title(slug) for slug in slugs]
    compared = [sized(slug, length, dimension) for slug in slugs]
    if view == "norms":
        lines = [_curves(norms(encoding, length, dimension)) for encoding in compared]
        return norms_figure(titles, lines)
    pictures = [
        _small(encoding, title, view, cells_of(encoding, view, length, head))
        for encoding, title in zip(compared, titles, strict=True)
    ]
    return pictures_figure(pictures, "value" if view == "picture" else "score")


def short_title(slug: str) -> str:
    """The title without what stands in brackets."""
    return encodings()[slug].title.partition(" (")[0]


def norms(encoding: Encoding, length: int, dimension: int) -> Norms:
    """Norms of words, positions and both, for the handbook's random words."""
    return combine(random_tokens(length, dimension), encoding).norms()


def facts(slug: str, length: int, dimension: int) -> dict[str, str]:
    """What the table says of an encoding, by the headings of its columns."""
    cls, encoding = encodings()[slug], sized(slug, length, dimension)
    answer, lengths = beyond(encoding), norms(encoding, length, dimension)
    return {
        "encoding": short_title(slug),
        "door": cls.door,
        "year": f"{cls.year}",
        "learned": f"{encoding.parameter_count:,}",
        "beyond training?": f"{answer.answer}: {answer.reason}",
        "‖s·p‖": f"{float(lengths.position.mean()):.3f}",
        "‖h‖": f"{float(lengths.combined.mean()):.3f}",
        "reference": cls.reference,
    }


def facts_table(slugs: Sequence[str], length: int, dimension: int) -> str:
    """One row for each encoding, in Markdown."""
    rows = [facts(slug, length, dimension) for slug in slugs]
    lines = [
        f"| {' | '.join(rows[0])} |",
        "|:--|:--|--:|--:|:--|--:|--:|:--|",
    ]
    for row in rows:
        answer, colon, reason = row["beyond training?"].partition(":")
        row |= {
            "encoding": f"**{row['encoding']}**",
            "beyond training?": f"**{answer}**{colon}{reason}",
        }
        lines.append("| " + " | ".join(cell.replace("|", "¦") for cell in row.values()) + " |")
    return "\n".join(lines)


def cells_of(
    encoding: Encoding, view: str, length: int, head: int
) -> Float[Tensor, "rows columns"]:
    """The matrix of an encoding's picture: positions × dimensions, or queries × keys, float32."""
    return (_contribution if view == "picture" else _scores)(encoding, length, head).to(
        torch.float32
    )


def _curves(lengths: Norms) -> dict[str, list[float]]:
    return {term: getattr(lengths, term).tolist() for term in ("token", "position", "combined")}


def _small(
    encoding: Encoding, title: str, view: str, cells: Float[Tensor, "rows columns"]
) -> Small:
    middle = words_of(encoding).middle
    if view == "similarity" or middle.up == "query":
        return Small(title, cells.numpy(), "key", "query")
    return Small(title, cells.T.numpy(), middle.across, middle.up)


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
