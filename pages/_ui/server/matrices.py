"""Matrices that all sessions share: the vectors of tokens and of the positions shown."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from pages._ui.server.installed_model import needed_model, sentence
from pages._ui.server.setting import RandomTokens, SentenceTokens, Setting
from pages._ui.server.store import Store
from posembed_core import AdditiveEncoding, CheckpointError, RelativeEncoding
from posembed_core.pictures.resolution import MAX_ROWS, Span, as_tensor, choose_rows
from posembed_core.tables.position_table import PositionTable
from posembed_core.tokens.random_tokens import random_tokens

MATRICES: Store[Tensor] = Store("matrices", lambda matrix: matrix.untyped_storage().nbytes())


def token_count(setting: Setting) -> int:
    """How many positions are shown: the whole length, or a sentence's tokens if they are fewer.

    Raises `CheckpointError` for a sentence without tokens.
    """
    if not isinstance(setting.source, SentenceTokens):
        return setting.length
    count = len(sentence(setting.source.text).first(setting.length).ids)
    if count == 0:  # a model without special tokens
        raise CheckpointError("the sentence has no tokens, and a picture needs one: type a word")
    return count


def token_matrix(setting: Setting) -> Tensor:
    """Token vectors (n, dimension), times sqrt(dimension) where the setting says so."""
    source = setting.source
    factor = setting.dimension**0.5 if setting.sqrt_dim else 1.0
    if isinstance(source, SentenceTokens):
        return needed_model().embed(sentence(source.text).first(setting.length)) * factor
    scaled = replace(source, std=source.std * factor)
    return _random_rows(scaled, _room(setting.length), setting.dimension)[: setting.length]


def position_rows(encoding: AdditiveEncoding, n: int, shown: Span) -> Tensor:
    """The vectors of the positions shown of 0 … n-1.

    Of a formula, which gives every integer a vector, no others are computed, but for short tables.
    """
    if isinstance(encoding, PositionTable):
        return choose_rows(encoding.rows, shown)
    if encoding.position_count is None and n > MAX_ROWS:
        return _chosen(encoding, shown)
    # Row i is the same in a longer table, so one table serves all lengths up to the next power
    # of two, and a dragged length slider finds its rows there.
    roomy = {
        name: parameter.check(name, parameter.high)  # type: ignore[attr-defined]
        for name, parameter in encoding.parameters().items()
        if parameter.role == "length"
    }
    whole = _kept(replace(encoding, **roomy), Span(0, _room(n)))
    return choose_rows(whole, shown)


def relative_rows(encoding: RelativeEncoding, n: int, shown: Span) -> Tensor:
    """The vectors that a query at position 0 adds to the keys shown of 0 … n-1."""
    if n > MAX_ROWS:
        return _chosen(encoding, shown)
    return choose_rows(_kept(encoding, Span(0, n)), shown)


def _chosen(encoding: AdditiveEncoding | RelativeEncoding, shown: Span) -> Tensor:
    # One row is computed sooner than found.
    return _kept(encoding, shown) if shown.cells > 1 else _rows(encoding, shown)


def _room(n: int) -> int:
    return 1 << (n - 1).bit_length()


@MATRICES.keep()
def _random_rows(source: RandomTokens, n: int, dimension: int) -> Tensor:
    return random_tokens(n, dimension, seed=source.seed, std=source.std, skip=source.skip)


@MATRICES.keep()
def _kept(encoding: AdditiveEncoding | RelativeEncoding, shown: Span) -> Tensor:
    return _rows(encoding, shown)


def _rows(encoding: AdditiveEncoding | RelativeEncoding, shown: Span) -> Tensor:
    positions = as_tensor(shown)
    if isinstance(encoding, RelativeEncoding):
        return encoding.vectors(0, positions)
    return encoding.table(positions)
