"""What the attention page says about its pictures, from the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

from pages._ui.attention.distance import Claim
from pages._ui.attention.settings import Chosen
from pages._ui.escaped import in_code
from pages._ui.families import where_it_acts
from pages._ui.numbers import written
from pages._ui.sentences import counted
from posembed_core.attention.experiments import FourTerms, ShiftTest
from posembed_core.attention.shuffle import PermutationTest

FOUR = ("content–content", "content–position", "position–content", "position–position")
NOTICED = 1e-9  # times the greatest score: above this a change in float64 is no rounding


def how_it_came_about(chosen: Chosen) -> str:
    """Under the weights: what is seen, and where position came in."""
    encodings = list(zip(chosen.titles, chosen.encodings, strict=True))
    doors = "; ".join(f"**{title}**: {where_it_acts(encoding)}" for title, encoding in encodings)
    mask = "Keys after the query are masked and left empty. " if chosen.causal else ""
    head_dim = chosen.inputs.projections.head_dim
    usual = head_dim**-0.5
    odd = [
        f"{title} multiplies q·k by {written(encoding.softmax_scale(head_dim), '.3g')} "
        f"instead of 1/√d = {written(usual, '.3g')}"
        for title, encoding in encodings
        if abs(encoding.softmax_scale(head_dim) - usual) > 1e-9
    ]
    factors = f" {'; '.join(odd)}." if odd else ""
    return (
        f"Head {chosen.head + 1}. Each row is a token that asks (query), each column a token that "
        f"is asked (key); a row of weights is the softmax of its scores and adds up to 1. {mask}"
        f"Position enters: {doors}.{factors} Click a cell for its arithmetic."
    )


def shuffle_table(
    titles: Sequence[str], plain: Sequence[PermutationTest], masked: Sequence[PermutationTest]
) -> str:
    """‖f(PX) − P f(X)‖ of each encoding, without a mask and with one."""
    lines = [
        "| encoding | no mask: ‖f(PX) − P f(X)‖ | greatest entry | with a causal mask | ‖f(X)‖ |",
        "|:--|--:|--:|--:|--:|",
    ]
    for title, test, with_mask in zip(titles, plain, masked, strict=True):
        lines.append(
            f"| {title} | {_size(test.frobenius)} | {_size(test.maximum)} | "
            f"{_size(with_mask.frobenius)} | {written(test.output_norm, '.4g')} |"
        )
    return "\n".join(lines)


def shuffle_said(
    titles: Sequence[str],
    plain: Sequence[PermutationTest],
    masked: Sequence[PermutationTest],
    scale: float,
    head: int,
    stays: Sequence[str] = (),
) -> str:
    """What this shuffle shows, of each encoding what was tested, and what a mask adds.

    ``head`` is the one whose columns are seen, ``stays`` the tokens that keep their slots.
    """
    done = shuffle_done([in_code(token) for token in stays])
    sentences = [f"{done}; the same layer runs on both, all heads, in float64."]
    if plain[0].tested == "nothing":
        moving = len(plain[0].permutation) - len(stays)
        only = {0: "there is no token", 1: "there is only one token"}.get(moving, "all tokens")
        only += " to move" if moving < 2 else " that move are equal"
        return f"{sentences[0]} **Nothing was tested**: {only}, so every order is the same text."
    tests = dict(zip(titles, plain, strict=True))
    blind = [title for title, test in tests.items() if not _notices(test)]
    told = [title for title in titles if title not in blind]
    if blind and plain[0].tested == "reversal":
        sentences.append(
            f"**{'; '.join(blind)}**: the outputs only change places with the tokens. But two "
            "tokens can only be turned around, which leaves every distance as it is: "
            "**nothing was tested** of what depends on distances alone."
        )
    elif blind:
        sentences.append(
            f"**{'; '.join(blind)}**: under this shuffle the outputs only change places with the "
            f"tokens: the same columns in another order, {_alike([tests[name] for name in blind])}."
        )
    if told:
        changes = ", ".join(_size(tests[title].change(head)) for title in told)
        in_order = " in that order" if len(told) > 1 else ""
        sentences.append(
            f"**{'; '.join(told)}**: the same token gets another output in another slot: other "
            f"columns, in head {head + 1} by up to {changes}{in_order}."
        )
    if scale == 0:
        sentences.append("At scale 0 no position enters: only the layer without one was tested.")
    with_mask = zip(titles, masked, strict=True)
    by_mask = [title for title, test in with_mask if title in blind and _notices(test)]
    if by_mask:
        least = min(
            test.frobenius for title, test in zip(titles, masked, strict=True) if title in by_mask
        )
        sentences.append(
            f"With a causal mask **{'; '.join(by_mask)}** "
            f"{'notices' if len(by_mask) == 1 else 'notice'} this shuffle, too (smallest error "
            f"{_size(least)}): the token in slot i sees the i tokens before it and itself, "
            "so a shuffle changes what it sees."
        )
    return " ".join(sentences)


def shuffle_done(stays: Sequence[str]) -> str:
    """What was shuffled and what wasn't, the beginning of a sentence."""
    names = list(dict.fromkeys(stays))
    but = f" but {', '.join(names[:-1])}{' and ' if names[1:] else ''}{names[-1]}" if names else ""
    return f"The tokens{but} change places, positions stay with the slots"


def columns_said(titles: Sequence[str], head: int, dimensions: int) -> str:
    """Under the columns: what they are."""
    pairs = "each pair of strips has" if len(titles) > 1 else "both strips have"
    return (
        f"Each column is one token's output of head {head + 1}, {dimensions} numbers: above in the "
        f"sentence's order, below after the shuffle, under the token's chip; {pairs} the same "
        "colours."
    )


def _alike(tests: Sequence[PermutationTest]) -> str:
    """How far columns that only change places are from the same."""
    greatest = max(test.maximum for test in tests)
    if greatest == 0:
        return "the same to the last digit"
    return f"the same but for rounding, {_size(greatest)} at most in all heads"


def _notices(test: PermutationTest) -> bool:
    return test.frobenius > NOTICED * test.output_norm


def shift_table(
    titles: Sequence[str], tests: Sequence[ShiftTest | str], shift: int, scale: float
) -> str:
    """How much each encoding notices; a text in place of a test says why there is none."""
    lines = [
        "| encoding | greatest change of a score | greatest score | shift |",
        "|:--|--:|--:|:--|",
    ]
    for title, test in zip(titles, tests, strict=True):
        if isinstance(test, str):
            lines.append(f"| {title} | – | – | {test} |")
            continue
        seen = test.maximum > NOTICED * max(1.0, test.score_size)
        verdict = "notices" if seen else "does not notice (rounding)"
        if shift == 0:
            verdict = "not tested: shift 0 moves nothing"
        elif scale == 0:
            verdict = "not tested: at scale 0 no position enters"
        size = written(test.score_size, ".4g")
        lines.append(f"| {title} | {_size(test.maximum)} | {size} | {verdict} |")
    return "\n".join(lines)


def shift_said(shift: int, n: int, head: int) -> str:
    """What the shift test does."""
    if shift == 0:
        return "At shift 0 positions stay as they are, so **nothing was tested**: move the slider."
    alone = " With one token the only distance is 0." if n == 1 else ""
    return (
        f"Positions 0 … {n - 1} become {shift} … {shift + n - 1}, the tokens stay. The pictures "
        f"are shifted minus original scores of head {head + 1}; the table takes all heads, in "
        f"float64. An encoding that depends on distances alone changes nothing.{alone}"
    )


def four_said(title: str, terms: FourTerms, head: int, has_norm: bool) -> str:
    """What the four terms are, and that they add up."""
    norm = (
        " The LayerNorm is linear once its deviation is known: e and s·p are both divided by the "
        "deviation of their sum, and its bias counts as content."
        if has_norm
        else ""
    )
    four = (terms.content_content, terms.content_position, terms.position_content,
            terms.position_position)  # fmt: skip
    shares = ", ".join(
        f"{name} {written(term[head].abs().max(), '.3g')}"
        for name, term in zip(FOUR, four, strict=True)
    )
    return (
        f"(W_q(e + s·p))·(W_k(e + s·p)) of **{title}**, head {head + 1}, multiplied out; the first "
        "word of each name says what the query is made of, the second what the key is."
        f"{norm} Greatest values: {shares}. Their sum differs from the whole, over all "
        f"heads, by at most **{_size(terms.residual)}**."
    )


def projected_said(whole: FourTerms, terms: FourTerms, removed: float, width: int) -> str:
    """That projections can turn position down, and what remains."""
    rank = counted(terms.directions, "direction")
    if terms.directions == 0:
        return "There is no position here that projections could turn down."
    if removed == 0:
        return (
            f"**Projections can turn position down**: these positions fill {rank} of {width}; the "
            "slider takes them out of W_q and W_k."
        )
    content = float(terms.content_content.norm() / whole.content_content.norm())
    before, after = (float((four.scores - four.content_content).norm()) for four in (whole, terms))
    return (
        f"**Projections can turn position down**: W_q and W_k read "
        f"{written(100 * (1 - removed), '.3g')} % of the {rank} of {width} that these positions "
        f"fill. Of the terms with position {written(100 * after / before, '.3g')} % remain, of "
        f"content–content {written(100 * content, '.3g')} % (norms, all heads)."
    )


def distance_said(farthest: int, head: int) -> str:
    """What the two pictures of the distance view are made of."""
    return (
        f"One query at position {farthest} and one key at each distance before it; head "
        f"{head + 1}, no sentence. Left: both are the same vector, q = k, all ones (for an "
        "encoding of the input pᵢ · pⱼ, for a bias the bias alone); dotted: the bound from which "
        "RoPE's decay is derived. Right: the mean over 256 independent pairs of random vectors, "
        "within two standard errors: what is left is what position adds by itself."
    )


def claims_table(titles: Sequence[str], claimed: Sequence[Sequence[Claim]]) -> str:
    """Claims and computations side by side."""
    lines = ["| encoding | claim | claimed | computed | difference |", "|:--|:--|--:|--:|--:|"]
    for title, claims in zip(titles, claimed, strict=True):
        for index, claim in enumerate(claims):
            name = "" if index else f"**{title}**"
            what = claim.what.replace("|", "¦")
            cells = (claim.claimed, claim.computed, claim.difference)
            numbers = " | ".join(cell.replace("|", "¦") for cell in cells)
            lines.append(f"| {name} | {what} | {numbers} |")
    if len(lines) == 2:
        return "No claim about distance is made for the encodings chosen here."
    return "\n".join(lines)


def _size(value: float) -> str:
    if value == 0:
        return "0"
    return written(value, ".4g" if 1e-2 <= value < 1e4 else ".2e")
