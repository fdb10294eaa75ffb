"""The arrays behind the pictures of the attention page, each computed when it is taken away."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pages._ui.attention.distance import DISTANCES, bound, random_vectors, same_vector
from pages._ui.attention.inputs import attention, shifted, shuffled, split
from pages._ui.attention.pictures import parts_of
from pages._ui.attention.settings import Chosen
from pages._ui.takeaway import Table
from posembed_core import AdditiveEncoding, Encoding, EncodingError, RotaryEncoding

_FOUR = ("content-content", "content-position", "position-content", "position-position", "scores")


def of_weights(chosen: Chosen, scale: float, temperature: float) -> Sequence[Table]:
    """Scores and weights of each encoding."""
    n = len(chosen.inputs.tokens)

    def table(slug: str, encoding: Encoding, what: str) -> Table:
        def rows(at: slice) -> Tensor:
            seen = attention(chosen.scene, encoding, chosen.head, scale, chosen.causal, temperature)
            cells: Tensor = getattr(seen, what)[at]
            return cells.masked_fill(~seen.allowed[at], -torch.inf if what == "scores" else 0.0)

        about = f"{what} with {type(encoding).title}, query × key"
        return Table(f"{slug}-{what}", about, (n, n), rows, row="query")

    return [
        table(slug, encoding, what)
        for slug, encoding in zip(chosen.slugs, chosen.encodings, strict=True)
        for what in ("scores", "weights")
    ]


def of_shuffle(chosen: Chosen, seed: int, scale: float) -> Sequence[Table]:
    """The errors in each slot, which word came to each slot, and the columns that are seen."""
    n, columns = len(chosen.inputs.tokens), tuple(chosen.slugs)

    def errors(causal: bool, at: slice) -> Tensor:
        tests = [
            shuffled(chosen.scene, encoding, seed, scale, causal, 1.0)
            for encoding in chosen.encodings
        ]
        return torch.stack([test.error for test in tests], dim=1)[at]

    def order(at: slice) -> Tensor:
        test = shuffled(chosen.scene, chosen.encodings[0], seed, scale, False, 1.0)
        return test.permutation[at, None].to(torch.float64)

    def outputs(slug: str, encoding: Encoding, time: str) -> Table:
        def rows(at: slice) -> Tensor:
            test = shuffled(chosen.scene, encoding, seed, scale, False, 1.0)
            of_heads: Tensor = getattr(test, time)
            return of_heads[chosen.head, at]

        about = f"outputs of the head shown with {type(encoding).title}, {time} the shuffle"
        shape = (n, chosen.inputs.projections.head_dim)
        return Table(f"{slug}-{time}", about, shape, rows, "slot", dtype="<f8")

    size, shape = "norm of f(PX) − P f(X), all heads", (n, len(columns))
    return (
        Table("errors", f"{size}, without a mask", shape, lambda at: errors(False, at), "slot",
              columns, "<f8"),
        Table("errors-causal", f"{size}, with a causal mask", shape, lambda at: errors(True, at),
              "slot", columns, "<f8"),
        Table("permutation", "the token that came to each slot", (n, 1), order, "slot", ("word",),
              "<f8"),
        *(outputs(slug, encoding, time)
          for slug, encoding in zip(chosen.slugs, chosen.encodings, strict=True)
          for time in ("before", "after")),
    )  # fmt: skip


def of_shift(chosen: Chosen, by: int, scale: float) -> Sequence[Table]:
    """The changes of the scores of the head shown; none of a table without the rows."""
    n = len(chosen.inputs.tokens)

    def table(slug: str, encoding: Encoding) -> Table:
        def rows(at: slice) -> Tensor:
            return shifted(chosen.scene, encoding, by, scale).change[chosen.head, at]

        about = f"shifted minus original scores with {type(encoding).title}, query × key"
        return Table(f"{slug}-change", about, (n, n), rows, "query", dtype="<f8")

    return [
        table(slug, encoding)
        for slug, encoding in zip(chosen.slugs, chosen.encodings, strict=True)
        if _has_rows(encoding, n + by)
    ]


def of_four(chosen: Chosen, encoding: Encoding, scale: float, removed: float) -> Sequence[Table]:
    """The four terms and the scores of the head shown."""
    n = len(chosen.inputs.tokens)

    def table(index: int, name: str) -> Table:
        def rows(at: slice) -> Tensor:
            return parts_of(split(chosen.scene, encoding, scale, removed))[index][chosen.head, at]

        return Table(name, f"{name}, query × key", (n, n), rows, "query", dtype="<f8")

    return [table(index, name) for index, name in enumerate(_FOUR)]


def of_distance(chosen: Chosen) -> Sequence[Table]:
    """Both pictures' curves, a column for each encoding after that of the distances."""
    encodings, head = chosen.encodings, chosen.head
    rotary = {
        slug: encoding
        for slug, encoding in zip(chosen.slugs, encodings, strict=True)
        if isinstance(encoding, RotaryEncoding)
    }

    def same() -> list[Tensor]:
        return [same_vector(encoding, head) for encoding in encodings]

    def mean() -> list[Tensor]:
        return [random_vectors(encoding, head).mean for encoding in encodings]

    def error() -> list[Tensor]:
        return [random_vectors(encoding, head).standard_error for encoding in encodings]

    def bounds() -> list[Tensor]:
        return [bound(encoding) for encoding in rotary.values()]

    distances = torch.tensor(DISTANCES, dtype=torch.float64)

    def table(
        name: str, about: str, curves: Callable[[], list[Tensor]], slugs: Sequence[str]
    ) -> Table:
        columns = ("distance", *slugs)
        return Table(name, about, (len(distances), len(columns)),
                     lambda at: torch.stack([distances, *curves()], dim=1)[at],
                     "row", columns, "<f8")  # fmt: skip

    tables = [
        table("same", "score of q = k", same, chosen.slugs),
        table("random-mean", "mean score of independent q and k", mean, chosen.slugs),
        table("random-error", "standard error of that mean", error, chosen.slugs),
    ]
    about = "RoPE's bound, for a score of 1 at distance 0"
    return [*tables, table("bounds", about, bounds, tuple(rotary))] if rotary else tables


def _has_rows(encoding: Encoding, count: int) -> bool:
    if isinstance(encoding, AdditiveEncoding):
        try:
            encoding.check_positions([count - 1])
        except EncodingError:
            return False
    return True
