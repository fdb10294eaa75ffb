"""What the page about long contexts says: a config in a line, rounding in sentences and numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from torch import Tensor

from pages._ui.escaped import in_code, in_markdown
from pages._ui.numbers import with_minus_signs, written
from pages._ui.sentences import counted, sentence
from pages._ui.theme import tinted
from posembed_core.long_context.pairs import MAX_DISTANCE, PairTable
from posembed_core.long_context.precision import (
    DTYPES,
    Arithmetic,
    WorstPair,
    distinct_positions,
    first_collision,
)
from posembed_core.long_context.report import MILESTONES, own_fields, rounding
from posembed_core.model_config import Finding, LayerPositions, RopeSettings
from posembed_core.model_config.beside import QueryScale

_LIST = re.compile(r"\[[^\[\]{}\"]*\]")


def pretty(config: object) -> str:
    """A config as JSON to read and edit; a list of numbers stays on one line."""
    text = json.dumps(config, indent=2, ensure_ascii=False)
    return _LIST.sub(lambda match: " ".join(match.group().split()), text)


def finding_text(finding: Finding) -> str:
    """What is so and why it matters, with the key that it is about where that isn't said."""
    named = finding.key and finding.key.rpartition(".")[2] not in finding.message
    key = f" ({in_code(finding.key)})" if named else ""
    reason = in_markdown(with_minus_signs(finding.reason))
    return f"**{sentence(finding.message.rstrip('.'))}** {reason}{key}"


def settings_line(settings: RopeSettings, wanted: int) -> str:
    """The scaling with its own numbers, the base, the head and the attention factor."""
    encoding = settings.encoding
    own = (f"{name} {value}" for name, value in own_fields(encoding).items())
    fields = with_minus_signs(", ".join(own))
    base_from, head_from = map(in_markdown, (settings.base_from, settings.head_dim_from))
    factor = encoding.attention_factor(wanted)
    rotated = encoding.rotary_dim
    part = "" if rotated == encoding.head_dim else f", {rotated} of them rotated"
    scores = "" if factor == 1 else f", so scores × {written(factor**2, '.6g')}"
    return (
        f"**{encoding.title}**{f' ({fields})' if fields else ''}; base {encoding.base:,.10g} "
        f"({base_from}); head of {encoding.head_dim} dimensions "
        f"({head_from}){part}, paired {_layout(encoding.pairing)}; attention factor "
        f"{written(factor, '.6g')} on cos and sin{scores}."
    )


def beside_the_rotation(layer: LayerPositions, findings: Sequence[Finding]) -> str:
    """What else there is: a factor of the scores or of the queries, and what notes say."""
    notes = [finding for finding in findings if finding.severity == "note"]
    sentences = [in_markdown(f"{note.message} {note.reason}") for note in notes]
    if layer.score_scale != 1:
        sentences.append(
            f"Beside 1/√d, the scores of these layers are multiplied by "
            f"{written(layer.score_scale, '.6g')}."
        )
    if layer.queries.kind:
        sentences.append(
            "Queries are scaled by their position i, counted from 0: "
            f"${_query_formula(layer.queries)}$."
        )
    return " ".join(sentences)


def _query_formula(queries: QueryScale) -> str:
    beta, length = f"{queries.beta:.6g}", f"{queries.length}"
    if queries.kind == "log":
        first = f"(i + {queries.first})" if queries.first else "i"
        return rf"1 + {beta} \ln(1 + \lfloor {first} / {length} \rfloor)"
    if queries.kind == "logn":
        return rf"\max(1, \ln(i + 1) / \ln {length})"
    return rf"(1 + (i + 1) / {length})^{{{beta}}}"


def query_scale_alt(queries: QueryScale) -> str:
    """The picture of the queries' factor in one sentence."""
    last = MAX_DISTANCE
    return (
        f"What a query is multiplied by against its position: {written(queries(0), '.6g')} at 0, "
        f"{written(queries(queries.length), '.6g')} at {queries.length:,}, "
        f"{written(queries(last), '.6g')} at {last:,}."
    )


def pairs_key(position: int, trained: int, given: bool) -> str:
    """What the marks in the two pictures of pairs mean; ``given`` as in `summary`."""
    went = (
        "went through in training" if given else f"goes through in {counted(trained, 'position')}"
    )
    unseen = "that the model has never seen" if given else "beyond them"
    scaled = tinted("position", "Orange")
    return (
        f"{scaled}: with the scaling, ● untouched, ◆ blended, ▲ fully interpolated; dotted and "
        f"hollow: plain RoPE. On the right the angles at position {position:,}; a grey bar is the "
        f"part of the turn that a pair {went}: a mark above it is an angle {unseen}."
    )


def scores_key(edges: Tensor) -> str:
    """What the two curves are, for cells of distances between these edges."""
    cells, widest = len(edges) - 1, int(edges.diff().max())
    return (
        "Left: the score of a query and a key of all ones, the mean of cos(distance · ω) over the "
        f"pairs times the attention factor squared; each of the {cells} points is the mean over "
        f"its distances, {widest:,} at most, in float64. Right: at each position the largest error "
        "of a cosine over all pairs, against float64."
    )


def collisions(wanted: int, arithmetic: Arithmetic) -> str:
    """How positions are rounded."""
    name = next(name for name, dtype in DTYPES.items() if dtype == arithmetic.positions)
    position, reads = first_collision(arithmetic.positions)
    left = distinct_positions(wanted, arithmetic.positions)
    if left == wanted:
        return (
            f"Positions in {name}: all {wanted:,} are exact; the first to collide would be "
            f"{position:,}, which becomes {reads:,}."
        )
    return (
        f"Positions in {name}: {position:,} becomes {reads:,}, and of {wanted:,} positions only "
        f"{left:,} are still different."
    )


def drift(table: PairTable, arithmetic: Arithmetic) -> str:
    """How far cosines are off at the milestones."""
    errors = zip(MILESTONES, rounding(table.after, arithmetic), strict=True)
    listed = ", ".join(f"{written(error, '.3g')} at {last:,}" for last, error in errors)
    return f"Largest error of a cosine over the 1,024 positions before a milestone: {listed}."


def worst_table(worst: WorstPair, arithmetic: Arithmetic) -> str:
    """One pair at one position, exact and as computed."""
    rows = (
        ("position", worst.position, ",.0f"),
        (f"ω of pair {worst.pair}", worst.inv_freq, ".9g"),
        ("angle (rad)", worst.angle, ",.9g"),
        ("cos", worst.cos, ".9f"),
    )
    lines = [f"| quantity | exact (float64) | {arithmetic.title} | error |", "|:--|--:|--:|--:|"]
    for name, (exact, computed), pattern in rows:
        shown = written(computed, pattern) if math.isfinite(computed) else "overflows"
        off = written(computed - exact, ".3g") if math.isfinite(computed) else ""
        lines.append(f"| {name} | {written(exact, pattern)} | {shown} | {off} |")
    return "\n".join(lines)


def pairs_alt(table: PairTable, in_short: str) -> str:
    """The pictures of pairs in one sentence."""
    return (
        f"Wavelengths of {len(table.kind)} pairs before and after the scaling, and their angles at "
        f"one position. {in_short}"
    )


def scores_alt(arithmetic: Arithmetic) -> str:
    """The pictures of scores and rounding in one sentence."""
    return f"Score against distance, and the error of cosines, computed {arithmetic.title}."


def _layout(pairing: str) -> str:
    return "by halves (m, m + d/2)" if pairing == "half" else "as neighbours (2m, 2m + 1)"
