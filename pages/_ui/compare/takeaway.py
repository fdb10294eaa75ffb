"""The comparison as code and as files."""

from __future__ import annotations

import csv
import io
from functools import partial

import plotly.graph_objects as go
import torch

from pages._ui.compare.facts import SAID, VIEWS, cells_of, facts, figure_of, norms
from pages._ui.compare.groups import NUM_HEADS, length_of, sized
from pages._ui.compare.settings import PAGE, Chosen
from pages._ui.compare.words import alt, sizes
from pages._ui.takeaway import OnScreen, Plot, Table, Text
from pages._ui.takeaway.view import whole
from posembed_core import encodings
from posembed_core.combination import combine
from posembed_core.extrapolation import beyond
from posembed_core.scripts.compare import compare_script

_TERMS = ("token", "position", "combined")
_NUMBERS = ("year", "numbers learned", "norm of h − e", "norm of h")


def comparison_shown(chosen: Chosen) -> OnScreen:
    """The pictures, their arrays and the table; each encoding has a script of its own."""
    slugs, view, titles = chosen.slugs, chosen.view, chosen.titles
    classes = [encodings()[slug] for slug in slugs]

    def figure() -> go.Figure:
        sizes = (chosen.length, chosen.dimension, chosen.head)
        return figure_of(slugs, view, *sizes)[0]

    return OnScreen(
        name=f"posembed-compare-{view}-{chosen.length}x{chosen.dimension}",
        code_name="posembed-compare",
        title=f"{VIEWS[view]} of {len(slugs)} encodings",
        about=lambda: "\n\n".join([SAID[view], *(cls.reference for cls in classes)]),
        plots={
            "": Plot(
                f"{PAGE}.{view}",
                figure,
                alt=lambda: alt(chosen),
                caption=lambda: f"{SAID[view]} {sizes(chosen)}.",
            )
        },
        captions_are_whole=True,
        settings={
            "encodings": ", ".join(titles.values()),
            "shown": VIEWS[view],
            "length": f"{chosen.length}",
            "dimension": f"{chosen.dimension}",
            "heads": f"{NUM_HEADS}",
            "head shown": f"{chosen.head + 1}",
        },
        tables=lambda: [*(_cells(chosen, slug) for slug in slugs), _numbers(chosen)],
        scripts={title: partial(_script, chosen, slug) for slug, title in titles.items()},
        script_files={title: slug for slug, title in titles.items()},
        sources=[combine, beyond, *classes],
        texts=[Text("facts.csv", "the table of facts", partial(_csv, chosen))],
    )


def _script(chosen: Chosen, slug: str) -> str:
    """One of the encodings in plain PyTorch."""
    encoding = sized(slug, chosen.length, chosen.dimension)
    n, width = length_of(encoding, chosen.length), chosen.dimension
    at = [i for i in (0, 5, 9) if i < n]
    return compare_script(encoding, chosen.view, n, width, head=chosen.head, at=at)


def _cells(chosen: Chosen, slug: str) -> Table:
    """What the picture of one of the encodings shows."""
    encoding = sized(slug, chosen.length, chosen.dimension)
    n = length_of(encoding, chosen.length)
    if chosen.view == "norms":
        three = norms(encoding, n, chosen.dimension)
        matrix = torch.stack([getattr(three, term) for term in _TERMS], dim=1)
        return whole(slug, "norms per position", matrix, columns=_TERMS, dtype="<f8")
    cells = cells_of(encoding, chosen.view, n, chosen.head)
    about = f"{VIEWS[chosen.view].lower()} of {chosen.titles[slug]}"
    return whole(slug, about, cells, row="query" if cells.shape == (n, n) else "position")


def _numbers(chosen: Chosen) -> Table:
    """The numbers of the table of facts."""
    rows = []
    for slug in chosen.slugs:
        encoding = sized(slug, chosen.length, chosen.dimension)
        three = norms(encoding, length_of(encoding, chosen.length), chosen.dimension)
        means = (float(three.position.mean()), float(three.combined.mean()))
        rows.append([float(encodings()[slug].year), float(encoding.parameter_count), *means])
    about = f"the table's numbers; rows are {', '.join(chosen.slugs)}"
    matrix = torch.tensor(rows, dtype=torch.float64)
    return whole("facts", about, matrix, row="row", columns=_NUMBERS, dtype="<f8")


def _csv(chosen: Chosen) -> str:
    """The table of facts, as it is read."""
    rows = [facts(slug, chosen.length, chosen.dimension) for slug in chosen.slugs]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
