"""The landing page's pictures, shared by all sessions: each setting's is computed once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from streamlit.runtime.scriptrunner import StopException
from torch import Tensor

from pages._ui.live import PackedArray, pack_array
from pages._ui.server.installed_model import model, needed_model
from pages._ui.server.matrices import position_rows, relative_rows, token_count, token_matrix
from pages._ui.server.setting import RandomTokens, SentenceTokens, Setting
from pages._ui.server.store import Store
from pages._ui.server.turns import LeftError, Turns
from pages._ui.server.visitor import presence, visitor
from posembed_core import AdditiveEncoding, RelativeEncoding
from posembed_core.operations import LayerNorm
from posembed_core.pictures.preview import Frame, Preview

# Only two pictures with this many values or more may work on whole matrices at once: each needs up
# to 300 MB for that, outside all stores.
_LARGE_VALUES = 2**22
_turns = Turns(at_once=2)
# A picture with fewer cells than this travels as float32: its hover shows the value itself.
_EXACT_CELLS = 16_384


@dataclass(eq=False)
class Shown:
    """A preview, and its arrays packed for the browser: an unchanged array is packed only once."""

    preview: Preview
    _packed: dict[str, tuple[Tensor, PackedArray]] = field(default_factory=dict)

    def pack(self, frame: Frame) -> dict[str, PackedArray]:
        """The frame's arrays with dimensions as rows and positions as columns, ready to be sent."""
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
    """The most that a picture can hold: its arrays are computed only when they are asked for.

    Three arrays (a concatenation's is twice as wide) as float32 and packed, three sums and their
    norms for each position in float64, and its small objects.
    """
    preview = shown.preview
    width = max(preview.columns.cells, preview.queries.cells if preview.shows_bias else 0)
    cells = preview.rows.cells * width
    arrays = 4 if preview.operation == "concat" else 3
    packed = 4 if cells <= _EXACT_CELLS else 2
    return 50_000 + arrays * cells * (4 + packed) + 6 * 8 * preview.shape[0]


PICTURES: Store[Shown] = Store("pictures", _picture_bytes)


@PICTURES.keep()
def picture(setting: Setting) -> Shown:
    """The preview of a setting.

    Raises `EncodingError` or `CheckpointError` where the setting makes no picture.
    """
    encoding, n = setting.encoding, token_count(setting)
    vectors = None
    if isinstance(encoding, AdditiveEncoding):
        encoding.check_positions([n - 1])
        vectors = lambda shown: position_rows(encoding, n, shown)  # noqa: E731
    elif isinstance(encoding, RelativeEncoding):
        vectors = lambda shown: relative_rows(encoding, n, shown)  # noqa: E731
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
            guard=lambda: _turn() if n * setting.dimension > _LARGE_VALUES else nullcontext(),
        )
    )


@contextmanager
def _turn() -> Iterator[None]:
    """A turn for the session that runs now, which ends where its page was closed meanwhile."""
    try:
        with _turns.turn(visitor(), presence()):
            yield
    except LeftError:
        raise StopException from None


def _layer_norm(setting: Setting) -> LayerNorm | None:
    if not setting.layer_norm:
        return None
    fitted = needed_model().layer_norm if isinstance(setting.source, SentenceTokens) else None
    # A model's weights fit its own width; a concatenation is wider and only normalised.
    return fitted if fitted is not None and setting.operation != "concat" else LayerNorm()


def preload() -> Any:
    """Compute what the first visitor sees, and open the model."""
    from posembed_core import create

    model()
    default = Setting(RandomTokens(), 128, 64, create("sinusoidal", embed_dim=64))
    shown = picture(default)
    return shown.pack(shown.preview.frame(1.0))
