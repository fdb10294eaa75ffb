"""What the comparison shows of an encoding: its picture, similarity, norms, and facts in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pages._ui import live
from pages._ui.figures.attention import Packed
from pages._ui.figures.compare import Small, norms_figure, pictures_figure
from pages._ui.server.kept import kept
from posembed_core import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    RelativeEncoding,
    RotaryEncoding,
    combine,
    create,
    encodings,
)
from posembed_core.combine import Norms, channel_cosines
from posembed_core.extrapolation import beyond
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


def made(slug: str, length: int, dimension: int) -> Encoding:
    """The encoding in these sizes."""
    parameters = encodings()[slug].parameters()
    by_role = {"length": length, "dimension": dimension}
    fields: dict[str, Any] = {
        name: by_role[one.role] for name, one in parameters.items() if one.role != "option"
    }
    if "num_heads" in parameters:
        fields["num_heads"] = NUM_HEADS
    return create(slug, **fields)


@kept()
def packed(
    slugs: tuple[str, ...], view: str, length: int, dimension: int, head: int
) -> live.PackedFigure:
    """The small multiples of a view, ready to be sent."""
    figure, narrow = figure_of(slugs, view, length, dimension, head)
    return live.pack_figure(figure, narrow=narrow)


def figure_of(slugs: tuple[str, ...], view: str, length: int, dimension: int, head: int) -> Packed:
    """The small multiples of a view, and their layout on a phone."""
    titles = [short_title(slug) for slug in slugs]
    built = [made(slug, length, dimension) for slug in slugs]
    if view == "norms":
        lines = [_curves(norms(encoding, length, dimension)) for encoding in built]
        return norms_figure(titles, lines)
    pictures = [
        _small(encoding, title, view, cells_of(encoding, view, length, head))
        for encoding, title in zip(built, titles, strict=True)
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
    cls, encoding = encodings()[slug], made(slug, length, dimension)
    answer, found = beyond(encoding), norms(encoding, length, dimension)
    return {
        "encoding": short_title(slug),
        "door": cls.door,
        "year": f"{cls.year}",
        "learned": f"{encoding.parameter_count:,}",
        "beyond training?": f"{answer.answer}: {answer.reason}",
        "‖s·p‖": f"{float(found.position.mean()):.3f}",
        "‖h‖": f"{float(found.combined.mean()):.3f}",
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


def _curves(found: Norms) -> dict[str, list[float]]:
    return {term: getattr(found, term).tolist() for term in ("token", "position", "combined")}


def _small(
    encoding: Encoding, title: str, view: str, cells: Float[Tensor, "rows columns"]
) -> Small:
    if view == "similarity" or isinstance(encoding, BiasEncoding):
        return Small(title, cells, "key", "query")
    across = "key" if isinstance(encoding, RelativeEncoding) else "position"
    return Small(title, cells.T, across, "dimension")


def _contribution(encoding: Encoding, length: int, head: int) -> Float[Tensor, "rows columns"]:
    where = torch.arange(length)
    if isinstance(encoding, AdditiveEncoding):
        return encoding.table(where)
    if isinstance(encoding, RotaryEncoding):
        return channel_cosines(encoding, where, seq_len=length)
    if isinstance(encoding, BiasEncoding):
        return encoding.bias(where, where, heads=slice(head, head + 1))[0]
    if isinstance(encoding, RelativeEncoding):
        return encoding.vectors(length - 1, where)
    raise TypeError(type(encoding).__name__)


def _scores(encoding: Encoding, length: int, head: int) -> Float[Tensor, "n n"]:
    where = torch.arange(length)
    if isinstance(encoding, BiasEncoding):
        return encoding.bias(where, where, heads=slice(head, head + 1))[0]
    if isinstance(encoding, AdditiveEncoding):
        vectors = torch.zeros(length, encoding.embed_dim, dtype=torch.float64)
        factor = encoding.softmax_scale(encoding.embed_dim)
        return encoding.scores(vectors, vectors, where, where, softmax_scale=factor)
    width = int(getattr(encoding, "head_dim", 0))
    vectors = torch.ones(length, width, dtype=torch.float64)
    factor = encoding.softmax_scale(width)
    return encoding.scores(vectors, vectors, where, where, softmax_scale=factor)
