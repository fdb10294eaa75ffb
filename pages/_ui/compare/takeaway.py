"""The comparison as code and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from pages._ui.compare.facts import (
    NUM_HEADS,
    SAID,
    VIEWS,
    cells_of,
    facts,
    figure_of,
    made,
    norms,
    short_title,
)
from pages._ui.takeaway.code import Script
from pages._ui.takeaway.files import Table, Text, View
from pages._ui.takeaway.popover import here
from pages._ui.takeaway.standalone import standalone_html
from pages._ui.takeaway.view import whole
from posembed_core import encodings
from posembed_core.combine import combine
from posembed_core.extrapolation import beyond
from posembed_core.scripts.compare import CompareView, compare_script

PAGE = "compare"
_TERMS = ("token", "position", "combined")
_NUMBERS = ("year", "learned", "norm of s·p", "norm of h")


@dataclass(frozen=True)
class Taken:
    """What is on the screen: the encodings, what is shown of them, and their sizes."""

    slugs: tuple[str, ...]
    shown: CompareView
    length: int
    dimension: int
    head: int

    name = "posembed-compare"

    @property
    def chart(self) -> str:
        """The key of the page's chart."""
        return f"{PAGE}.{self.shown}"

    @property
    def scripts(self) -> dict[str, Script]:
        """Each of the encodings in plain PyTorch."""
        return {short_title(slug): partial(self.script, slug) for slug in self.slugs}

    @property
    def sources(self) -> list[Callable[..., Any]]:
        """What computes them."""
        return [combine, beyond, *(encodings()[slug] for slug in self.slugs)]

    def script(self, slug: str) -> str:
        """One of the encodings in plain PyTorch."""
        encoding, n = made(slug, self.length, self.dimension), self.length
        at = [i for i in (0, 5, 9) if i < n]
        return compare_script(encoding, self.shown, n, self.dimension, head=self.head, at=at)

    def view(self) -> View:
        """The pictures, their arrays, and the table, to take away."""
        name, link = f"posembed-compare-{self.shown}-{self.length}x{self.dimension}", here()
        title = f"{VIEWS[self.shown]} of {len(self.slugs)} encodings"
        return View(
            name=name,
            title=f"Posembed: {title}",
            about="\n\n".join([SAID[self.shown], *(encodings()[s].reference for s in self.slugs)]),
            link=link,
            settings={
                "encodings": ", ".join(map(short_title, self.slugs)),
                "shown": VIEWS[self.shown],
                "length": f"{self.length}",
                "dimension": f"{self.dimension}",
                "heads": f"{NUM_HEADS}",
                "head shown": f"{self.head + 1}",
            },
            tables=[*map(self._table, self.slugs), self._facts()],
            pictures={"": lambda: self._page(name, title, link)},
            scripts={slug: partial(self.script, slug) for slug in self.slugs},
            texts=[Text("facts.csv", "the table of facts", self._csv)],
        )

    def _page(self, name: str, title: str, link: str) -> str:
        figure, _ = figure_of(self.slugs, self.shown, self.length, self.dimension, self.head)
        return standalone_html(
            figure,
            title=title,
            alt=f"{VIEWS[self.shown]} of {', '.join(map(short_title, self.slugs))}.",
            caption=f"{SAID[self.shown]} {self.length} positions, {self.dimension} dimensions.",
            link=link,
            name=name,
        )

    def _table(self, slug: str) -> Table:
        encoding = made(slug, self.length, self.dimension)
        if self.shown == "norms":
            found = norms(encoding, self.length, self.dimension)
            matrix = torch.stack([getattr(found, term) for term in _TERMS], dim=1)
            return whole(slug, "norms per position", matrix, columns=_TERMS, dtype="<f8")
        cells = cells_of(encoding, self.shown, self.length, self.head)
        row = "query" if cells.shape == (self.length, self.length) else "position"
        about = f"{VIEWS[self.shown].lower()} of {short_title(slug)}"
        return whole(slug, about, cells, row=row)

    def _facts(self) -> Table:
        rows = []
        for slug in self.slugs:
            encoding = made(slug, self.length, self.dimension)
            found = norms(encoding, self.length, self.dimension)
            means = (float(found.position.mean()), float(found.combined.mean()))
            rows.append([float(encodings()[slug].year), float(encoding.parameter_count), *means])
        about = f"the table's numbers; rows are {', '.join(self.slugs)}"
        matrix = torch.tensor(rows, dtype=torch.float64)
        return whole("facts", about, matrix, row="row", columns=_NUMBERS, dtype="<f8")

    def _csv(self) -> str:
        text = io.StringIO()
        rows = [facts(slug, self.length, self.dimension) for slug in self.slugs]
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()
