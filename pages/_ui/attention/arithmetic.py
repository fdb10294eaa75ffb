"""One attention weight's arithmetic, with all the digits: what a click on the page explains."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor

from pages._ui.attention.inputs import Inputs
from pages._ui.escaped import in_code
from pages._ui.families import where_it_acts, words_of
from pages._ui.numbers import bracketed, signed, written
from pages._ui.theme import tinted
from posembed_core import Encoding
from posembed_core.attention.explain import WeightArithmetic
from posembed_core.attention.layer import Projections

_SHOWN = 4  # numbers of a vector


def weight_arithmetic(
    step: WeightArithmetic,
    title: str,
    encoding: Encoding,
    given: Inputs,
) -> str:
    """From two words to their weight, in Markdown."""
    projections, words = given.projections, given.tokens
    i, j = step.query_position, step.key_position
    inner = words_of(encoding).layer_input.format(
        e=tinted("token", "e"), p=tinted("position", "s·p")
    )
    formula = f"LayerNorm({inner})" if given.layer_norm is not None else inner
    if given.multiplied(encoding):
        formula += f" (e is the token's vector times √{projections.embed_dim})"
    bias = " + b" if projections.query_bias is not None else ""
    query, key = (
        f"{in_code(words[i])} (query, position {i})",
        f"{in_code(words[j])} (key, position {j})",
    )
    product = float(step.products.sum())
    steps = (
        f"Input x = {formula}. Query: {_vectors(step, 'query')}. Key: {_vectors(step, 'key')}.",
        (
            f"Projections to {projections.head_dim} numbers: q = W_q x{bias} = {_vector(step.q)}, "
            f"k = W_k x{bias} = {_vector(step.k)}. The first: {_first_of_q(step, projections)}."
        ),
        (
            f"q · k = Σ qₘkₘ = {written(product, '.9g')}; times "
            f"{written(step.softmax_scale, '.9g')} = **{written(step.content, '.9g')}**."
        ),
        _position(step, encoding),
        (
            f"Score = {written(step.content, '.9g')} {signed(step.position_part, '.9g')} = "
            f"**{written(step.score, '.9g')}**; divided by the temperature "
            f"{written(step.temperature)} = {written(step.logit, '.9g')}."
        ),
        _softmax(step),
    )
    title = f"**{title}, head {step.head + 1}: how much {query} attends to {key}**"
    return "\n".join(
        [title, "", *(f"{n}. {sentence}" for n, sentence in enumerate(steps, start=1))]
    )


def products_table(step: WeightArithmetic) -> str:
    """Every product of query and key."""
    lines = ["| m | qₘ | kₘ | qₘkₘ |", "|--:|--:|--:|--:|"]
    rows = zip(step.q.tolist(), step.k.tolist(), step.products.tolist(), strict=True)
    for m, terms in enumerate(rows):
        lines.append(f"| {m} | {' | '.join(written(term, '.9g') for term in terms)} |")
    return "\n".join([*lines, f"| Σ | | | {written(step.products.sum(), '.9g')} |"])


def softmax_table(step: WeightArithmetic, words: Sequence[str]) -> str:
    """Score / temperature, exponential and weight of every key."""
    lines = ["| key | score / T | exp(… − greatest) | weight |", "|:--|--:|--:|--:|"]
    for index, logit in enumerate(step.row.tolist()):
        power = math.exp(logit - step.shift)
        weight = power / step.denominator
        shown = "masked" if logit == -math.inf else written(logit, ".9g")
        key = f"{index} {in_code(words[index], in_table=True)}"
        lines.append(f"| {key} | {shown} | {written(power, '.9g')} | {written(weight, '.9g')} |")
    return "\n".join([*lines, f"| Σ | | {written(step.denominator, '.9g')} | 1 |"])


def _softmax(step: WeightArithmetic) -> str:
    if step.row[step.key_position] == -math.inf:  # positions count the slots on this page
        return "The key comes after the query: it is masked, and its weight is **0**."
    seen = sum(logit > -math.inf for logit in step.row.tolist())
    return (
        f"Weight = exp({written(step.logit, '.9g')} − {bracketed(step.shift, '.9g')}) / "
        f"{written(step.denominator, '.9g')} = "
        f"**{written(step.weight, '.9g')}**: the softmax over {seen} keys, less their greatest, "
        f"{written(step.shift, '.9g')}; {written(step.denominator, '.9g')} is the sum of all such "
        "powers."
    )


def _position(step: WeightArithmetic, encoding: Encoding) -> str:
    return words_of(encoding).score_step.format(
        acts=where_it_acts(encoding),
        q=_vector(step.turned_q),
        k=_vector(step.turned_k),
        part=tinted("position", written(step.position_part, ".9g")),
    )


def _vectors(step: WeightArithmetic, side: str) -> str:
    token, position, whole = (
        getattr(step, f"{name}_{side}") for name in ("token", "position", "input")
    )
    terms = f"{tinted('token', 'e')} = {_vector(token)}"
    if position.any():
        terms += f", {tinted('position', 's·p')} = {_vector(position)}"
    return f"{terms}, x = {_vector(whole)}"


def _first_of_q(step: WeightArithmetic, projections: Projections) -> str:
    inner = float(projections.query[step.head, 0].to(step.q.dtype) @ step.input_query)
    if projections.query_bias is None:
        return f"q₀ = W_q[0, :] · x = {written(inner, '.9g')}"
    bias = float(projections.query_bias[step.head, 0])
    return (
        f"q₀ = W_q[0, :] · x + b₀ = {written(inner, '.9g')} {signed(bias, '.9g')} = "
        f"{written(step.q[0], '.9g')}"
    )


def _vector(values: Tensor) -> str:
    numbers = [written(value, ".4g") for value in values[:_SHOWN].tolist()]
    norm = float(values.norm())
    # No-break spaces: a vector stays on one line.
    return f"[{chr(0xA0).join([*numbers, '…'])}] (‖·‖ = {written(norm, '.4g')})"
