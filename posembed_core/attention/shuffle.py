"""The shuffle test of one attention layer: does it notice that words change places?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from posembed_core.attention.layer import Projections, attend
from posembed_core.base import Encoding, Positions
from posembed_core.operations import LayerNorm

Tested = Literal["order", "reversal", "nothing"]
_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """How far attention is from not noticing a shuffle: f(PX) - P f(X).

    ``permutation[i]`` is the word that moves to slot i. ``before`` is f(X) and ``after`` f(PX), the
    outputs of each head. ``error`` is ‖f(PX) - P f(X)‖ per slot, over all heads; ``maximum`` its
    greatest entry in absolute value, ``frobenius`` its norm, and ``output_norm`` is ‖f(X)‖, for
    comparison. ``tested`` says what the shuffle can show: an ``"order"``; only a ``"reversal"``,
    which what depends on how far apart words are can't notice; or ``"nothing"``, since every order
    is the same text. It is the seed's shuffle number ``draws``.
    """

    permutation: Int[Tensor, " n"]
    before: Float[Tensor, "num_heads n head_dim"]
    after: Float[Tensor, "num_heads n head_dim"]
    error: Float[Tensor, " n"]
    maximum: float
    frobenius: float
    output_norm: float
    tested: Tested = "order"
    draws: int = 1

    def change(self, head: int) -> float:
        """The greatest entry of f(PX) - P f(X) in one head, in absolute value."""
        return float((self.after - self.before[:, self.permutation])[head].abs().max())


def telling_shuffle(
    tokens: Float[Tensor, "n embed_dim"], seed: int, fixed: Sequence[int] = ()
) -> tuple[Int[Tensor, " n"], Tested, int]:
    """The seed's first shuffle that can tell something of the order, what it tells, its number.

    It puts another word somewhere, equal words being one, and doesn't only turn the text around.
    Where only that is left (two words), that; where every order is the same text, the first.
    Words in the ``fixed`` slots, such as [CLS] and [SEP], stay there.

    >>> order, tested, draws = telling_shuffle(torch.tensor([[1.0], [2.0], [1.0]]), seed=0)
    >>> tested
    'order'
    >>> telling_shuffle(torch.ones(3, 2), seed=0)[1]
    'nothing'
    >>> order, tested, _ = telling_shuffle(torch.eye(4), seed=0, fixed=[0, 3])
    >>> order.tolist(), tested
    ([0, 2, 1, 3], 'order')
    """
    words, moving = _words(tokens), _moving(len(tokens), fixed)
    tested, useless, _ = _what_tells(words, moving)
    random, draws = np.random.RandomState(seed), 0
    while True:
        order, draws = torch.arange(len(words)), draws + 1
        order[moving] = moving[torch.from_numpy(random.permutation(len(moving)))]
        if tested == "nothing" or not any(torch.equal(words[order], text) for text in useless):
            return order, tested, draws


def next_seed(
    tokens: Float[Tensor, "n embed_dim"], seed: int, fixed: Sequence[int] = ()
) -> int | None:
    """The next seed whose telling shuffle makes another text; None where there is no other one.

    >>> next_seed(torch.eye(2), seed=1) is None
    True
    """
    words = _words(tokens)
    if _what_tells(words, _moving(len(words), fixed))[2] < 2:
        return None
    text = words[telling_shuffle(tokens, seed, fixed)[0]]
    following = (seed + 1) % _SEEDS
    while torch.equal(words[telling_shuffle(tokens, following, fixed)[0]], text):
        following = (following + 1) % _SEEDS
    return following


def permutation_test(
    tokens: Float[Tensor, "n embed_dim"],
    encoding: Encoding,
    projections: Projections,
    positions: Positions | None = None,
    *,
    seed: int = 0,
    fixed: Sequence[int] = (),
    scale: float = 1.0,
    causal: bool = False,
    temperature: float = 1.0,
    layer_norm: LayerNorm | None = None,
) -> PermutationTest:
    """Shuffle the words with a seed while positions stay with the slots, and compare the outputs.

    The shuffle is `telling_shuffle`, the first of the seed's that changes the text; the words in
    the ``fixed`` slots stay there.
    Without position and mask the outputs are shuffled with the words (both are the same sum in
    another order, so any error is rounding). A causal mask alone breaks that: a word's output
    depends on which words come before it.

    >>> import posembed_core as pc
    >>> from posembed_core.attention.layer import random_projections
    >>> tokens, none = pc.random_tokens(4, 8), pc.create("none", embed_dim=8)
    >>> projections = random_projections(8, num_heads=2, head_dim=4)
    >>> permutation_test(tokens, none, projections, seed=1).maximum < 1e-6
    True
    """
    order, tested, draws = telling_shuffle(tokens, seed, fixed)
    before, after = (
        attend(
            ordered,
            encoding,
            projections,
            positions,
            scale=scale,
            causal=causal,
            temperature=temperature,
            layer_norm=layer_norm,
        ).output
        for ordered in (tokens, tokens[order])
    )
    error = after - before[:, order]
    return PermutationTest(
        permutation=order,
        before=before,
        after=after,
        error=torch.linalg.vector_norm(error, dim=(0, 2)),
        maximum=float(error.abs().max()),
        frobenius=float(torch.linalg.vector_norm(error)),
        output_norm=float(torch.linalg.vector_norm(before)),
        tested=tested,
        draws=draws,
    )


def _words(tokens: Float[Tensor, "n embed_dim"]) -> Int[Tensor, " n"]:
    """A number for each word, the same for equal ones."""
    words: Tensor = torch.unique(tokens, dim=0, return_inverse=True)[1].flatten()
    return words


def _moving(n: int, fixed: Sequence[int]) -> Int[Tensor, " moving"]:
    """The slots whose words change places."""
    return torch.tensor([slot for slot in range(n) if slot not in fixed], dtype=torch.int64)


def _what_tells(
    words: Int[Tensor, " n"], moving: Int[Tensor, " moving"]
) -> tuple[Tested, list[Tensor], int]:
    """What a shuffle can tell; the texts that don't tell it; how many others there are."""
    texts = math.factorial(len(moving))
    for count in words[moving].bincount().tolist():
        texts //= math.factorial(count)
    turned, stays = words.flip(0), torch.ones(len(words), dtype=torch.bool)
    stays[moving] = False
    can_turn = torch.equal(turned[stays], words[stays]) and not torch.equal(turned, words)
    if texts == 1:
        return "nothing", [words], 0
    if can_turn and texts == 2:
        return "reversal", [words], 1
    useless = [words, turned] if can_turn else [words]
    return "order", useless, texts - len(useless)
