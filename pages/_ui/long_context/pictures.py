"""The figures about a model's RoPE, computed by the core and packed for the browser, once each."""

from __future__ import annotations

import plotly.graph_objects as go
from torch import Tensor

from pages._ui import live
from pages._ui.figures.query_scale import query_scale_figure
from pages._ui.figures.rope_pairs import Pairs, pairs_figure
from pages._ui.figures.rope_scores import Curve, distance_figure
from pages._ui.figures.two_pictures import Lengths, narrow_layout
from pages._ui.server.kept import kept
from posembed_core import RotaryEncoding
from posembed_core.long_context.pairs import (
    MAX_DISTANCE,
    PairTable,
    distance_edges,
    mean_score,
    pair_table,
)
from posembed_core.long_context.precision import ARITHMETICS, error_curve
from posembed_core.long_context.report import distance_columns
from posembed_core.model_config.beside import QueryScale

CELLS = 320  # points of a score curve


@kept()
def packed_pairs(
    encoding: RotaryEncoding, lengths: Lengths, position: int, quantity: str
) -> live.PackedFigure:
    """The picture of the pairs, ready to be sent."""
    figure = pairs_picture(encoding, lengths, position, quantity)
    return live.pack_figure(figure, narrow=narrow_layout(figure))


def pairs_picture(
    encoding: RotaryEncoding, lengths: Lengths, position: int, quantity: str
) -> go.Figure:
    """The picture of the pairs."""
    table = pair_table(encoding, lengths.wanted)
    before, after = table.phases(position)
    pairs = Pairs(
        frequency=(table.before.tolist(), table.after.tolist()),
        kind=table.kind,
        position=position,
        phase=(before.tolist(), after.tolist()),
        seen=table.seen(lengths.trained).tolist(),
    )
    return pairs_figure(pairs, lengths, quantity)


@kept()
def packed_scores(encoding: RotaryEncoding, lengths: Lengths, arithmetic: str) -> live.PackedFigure:
    """The picture of scores and rounding, ready to be sent."""
    figure = scores_picture(encoding, lengths, arithmetic)
    return live.pack_figure(figure, narrow=narrow_layout(figure))


def scores_picture(encoding: RotaryEncoding, lengths: Lengths, arithmetic: str) -> go.Figure:
    """The picture of scores and rounding."""
    table = pair_table(encoding, lengths.wanted)
    columns = score_columns(encoding, lengths.wanted)
    distance = ((columns["from"] + columns["to"]) / 2)[1:].tolist()
    before, after = (
        Curve(distance, columns[f"score_{name}"][1:].tolist()) for name in ("before", "after")
    )
    errors = {
        ARITHMETICS[name].title: Curve(*map(list, error_lists(table, name)))
        for name in dict.fromkeys(("float32", arithmetic))
    }
    title = ARITHMETICS[arithmetic].title
    return distance_figure(before, after, errors, title, lengths)


@kept()
def packed_query_scale(queries: QueryScale) -> live.PackedFigure:
    """The picture of a factor of the queries, ready to be sent."""
    return live.pack_figure(query_scale_picture(queries))


def query_scale_picture(queries: QueryScale) -> go.Figure:
    """The picture of a factor of the queries against their position."""
    positions = query_positions(queries.length)
    return query_scale_figure(positions, [queries(position) for position in positions])


def query_positions(length: int) -> list[int]:
    """Positions that show a factor which steps at each multiple of ``length``.

    Its first 64 steps exactly, each with the position before it; beyond them 320 cells of the
    whole range.

    >>> {8191, 8192, 16384} <= set(query_positions(8192))
    True
    """
    cells = distance_edges(MAX_DISTANCE, CELLS)[1:-1].tolist()
    steps = [at for step in range(1, 65) for at in (step * length - 1, step * length)]
    return sorted({1, *cells, *(at for at in steps if 1 <= at <= MAX_DISTANCE), MAX_DISTANCE})


def score_columns(encoding: RotaryEncoding, wanted: int) -> dict[str, Tensor]:
    """Scores against distance before and after, as columns."""
    table, edges = pair_table(encoding, wanted), distance_edges(MAX_DISTANCE, CELLS)
    factor = encoding.attention_factor(wanted)
    return distance_columns(
        edges, mean_score(table.before, edges), mean_score(table.after, edges, factor)
    )


def error_lists(table: PairTable, arithmetic: str) -> tuple[list[float], list[float]]:
    """Positions and the largest error of a cosine at each."""
    positions, error = error_curve(table.after, MAX_DISTANCE, ARITHMETICS[arithmetic])
    return positions.tolist(), error.tolist()
