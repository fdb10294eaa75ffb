"""What sessions share: whole matrices and pictures, each computed once, bounded in bytes."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from cachetools import cached
from torch import Tensor

from pages._ui.live import PackedArray, pack_array
from pages._ui.server.kept import kept
from pages._ui.server.store import Store
from posembed_core import AdditiveEncoding, CheckpointError, Encoding, RelativeEncoding
from posembed_core.operations import LayerNorm, Operation
from posembed_core.pictures.preview import Frame, Preview
from posembed_core.tables.position_table import PositionTable
from posembed_core.tokens.random_tokens import random_tokens
from posembed_core.tokens.sentence_model import (
    HOW_TO_GET_A_MODEL,
    Sentence,
    SentenceModel,
    load_model,
    model_folder,
)

# From so many values on, only so many pictures at once have whole matrices at work: what these need
# is beside the cache, up to 300 MB each.
_LARGE_VALUES = 2**22
_at_work = threading.BoundedSemaphore(2)
# A picture with fewer cells than this travels as float32: its hover shows the value itself.
_EXACT_CELLS = 16_384


@dataclass(frozen=True)
class RandomTokens:
    """Normally distributed token vectors of a seed."""

    seed: int = 123
    std: float = 0.5
    skip: int = 0


@dataclass(frozen=True)
class SentenceTokens:
    """The token vectors of a sentence in the installed model."""

    text: str


Source = RandomTokens | SentenceTokens


@dataclass(frozen=True)
class Setting:
    """All that the landing page's pictures depend on, but for the scale."""

    source: Source
    length: int
    dimension: int
    encoding: Encoding
    operation: Operation = "add"
    layer_norm: bool = False
    sqrt_dim: bool = False
    head: int = 0
    window: tuple[float | None, float | None, float | None, float | None] = (None,) * 4


@dataclass(eq=False)
class Shown:
    """A preview, and its arrays packed for the browser: an array that stays is packed once."""

    preview: Preview
    _packed: dict[str, tuple[Tensor, PackedArray]] = field(default_factory=dict)

    def pack(self, frame: Frame) -> dict[str, PackedArray]:
        """The frame's arrays with channels as rows and positions as columns, ready to be sent."""
        packed = {}
        for name, cells in frame.arrays.items():
            known = self._packed.get(name)
            if known is None or known[0] is not cells:
                exact = cells.numel() <= _EXACT_CELLS
                known = (cells, pack_array(cells.T.numpy(), exact=exact))
                self._packed[name] = known
            packed[name] = known[1]
        return packed


def _picture_bytes(shown: Shown) -> int:
    """What a picture will hold at most: it computes its arrays only when they are asked for.

    Three arrays (a concatenation's is twice as wide) as float32 and packed, three sums and their
    norms for each position in float64, and its small objects.
    """
    preview = shown.preview
    width = max(preview.columns.cells, preview.queries.cells if preview.shows_bias else 0)
    cells = preview.rows.cells * width
    arrays = 4 if preview.operation == "concat" else 3
    packed = 4 if cells <= _EXACT_CELLS else 2
    return 50_000 + arrays * cells * (4 + packed) + 6 * 8 * preview.shape[0]


MATRICES: Store[Tensor] = Store("matrices", lambda matrix: matrix.untyped_storage().nbytes())
PICTURES: Store[Shown] = Store("pictures", _picture_bytes)


@cached({}, key=model_folder, condition=threading.Condition())
def model() -> SentenceModel | None:
    """The installed model's embedding layer, None where there is none.

    Raises `CheckpointError` for a model folder that can't be read.
    """
    folder = model_folder()
    return None if folder is None else load_model(folder)


def model_problem() -> str:
    """Why no sentence can be read, in one sentence; empty where one can."""
    try:
        return "" if model() is not None else HOW_TO_GET_A_MODEL
    except CheckpointError as error:
        return f"{error}. {HOW_TO_GET_A_MODEL}"


def needed_model() -> SentenceModel:
    """The installed model, for settings that can't be without one."""
    there = model()
    if there is None:
        raise CheckpointError("there is no model to read the sentence with")
    return there


@kept()
def sentence(text: str) -> Sentence:
    """The sentence's tokens."""
    return needed_model().tokenize(text)


@PICTURES.keep()
def picture(setting: Setting) -> Shown:
    """The preview of a setting.

    Raises `EncodingError` or `CheckpointError` where the setting makes no picture.
    """
    encoding, n = setting.encoding, token_count(setting)
    vectors = None
    if isinstance(encoding, AdditiveEncoding):
        encoding.check_positions([n - 1])
        vectors = lambda: position_matrix(encoding, n)  # noqa: E731
    elif isinstance(encoding, RelativeEncoding):
        vectors = lambda: _relative_matrix(encoding, n)  # noqa: E731
    return Shown(
        Preview(
            shape=(n, setting.dimension),
            tokens=lambda: token_matrix(setting),
            encoding=encoding,
            vectors=vectors,
            operation=setting.operation,
            layer_norm=_layer_norm(setting),
            head=setting.head,
            window=setting.window,
            guard=lambda: _at_work if n * setting.dimension > _LARGE_VALUES else nullcontext(),
        )
    )


def token_count(setting: Setting) -> int:
    """How many positions are shown: the sentence's tokens, else the whole length.

    Raises `CheckpointError` for a sentence without any.
    """
    if not isinstance(setting.source, SentenceTokens):
        return setting.length
    count = len(sentence(setting.source.text).ids)
    if count == 0:  # a model without special tokens
        raise CheckpointError("the sentence has no tokens, and a picture needs one: type a word")
    return count


def token_matrix(setting: Setting) -> Tensor:
    """Token vectors (n, dimension), times sqrt(dimension) where the setting says so."""
    source = setting.source
    factor = setting.dimension**0.5 if setting.sqrt_dim else 1.0
    if isinstance(source, SentenceTokens):
        return needed_model().embed(sentence(source.text)) * factor
    scaled = replace(source, std=source.std * factor)
    return _random_rows(scaled, _room(setting.length), setting.dimension)[: setting.length]


def position_matrix(encoding: AdditiveEncoding, n: int) -> Tensor:
    """The vectors of positions 0 … n-1."""
    if isinstance(encoding, PositionTable):
        return encoding.rows[:n]
    # Row i is the same in a longer table, so one table serves all lengths up to the next power
    # of two, and a dragged length slider finds its rows there.
    roomy = {
        name: parameter.check(name, parameter.high)  # type: ignore[attr-defined]
        for name, parameter in encoding.parameters().items()
        if parameter.role == "length"
    }
    return _position_rows(replace(encoding, **roomy), _room(n))[:n]


def _room(n: int) -> int:
    return 1 << (n - 1).bit_length()


@MATRICES.keep()
def _random_rows(source: RandomTokens, n: int, dimension: int) -> Tensor:
    return random_tokens(n, dimension, seed=source.seed, std=source.std, skip=source.skip)


@MATRICES.keep()
def _position_rows(encoding: AdditiveEncoding, n: int) -> Tensor:
    return encoding.table(torch.arange(n))


@MATRICES.keep()
def _relative_matrix(encoding: RelativeEncoding, n: int) -> Tensor:
    return encoding.vectors(0, torch.arange(n))


def _layer_norm(setting: Setting) -> LayerNorm | None:
    if not setting.layer_norm:
        return None
    there = needed_model().layer_norm if isinstance(setting.source, SentenceTokens) else None
    # A model's weights fit its own width; a concatenation is wider and only normalised.
    return there if there is not None and setting.operation != "concat" else LayerNorm()


def preload() -> Any:
    """Compute what the first visitor sees, and open the model."""
    from posembed_core import create

    model()
    default = Setting(RandomTokens(), 128, 64, create("sinusoidal", embed_dim=64))
    shown = picture(default)
    return shown.pack(shown.preview.frame(1.0))
