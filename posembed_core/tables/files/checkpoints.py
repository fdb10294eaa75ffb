"""Position tables and other weights out of checkpoint files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from posembed_core.base import MAX_LENGTH
from posembed_core.tables.files.detect import DEFAULT_LIMIT, tensor_entries
from posembed_core.tables.files.entries import BinaryFile, TensorEntry
from posembed_core.tables.files.names import (
    flattened,
    is_flat,
    is_named_like_positions,
    leading_rows,
    looks_like_positions,
    not_text,
    prefix_rows,
    squeezed,
    unlike_positions,
    zero_rows,
)
from posembed_core.tables.position_table import CheckpointError, PositionTable, check_table, dims

__all__ = [
    "DEFAULT_LIMIT",
    "CheckpointError",
    "PathOrFile",
    "PositionTable",
    "TensorInfo",
    "list_tables",
    "load_table",
    "read_tensor",
]

PathOrFile = str | os.PathLike[str] | BinaryFile


@dataclass(frozen=True)
class TensorInfo:
    """A tensor in a file: its name, shape and type, and whether it looks like a position table."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    likely: bool


def load_table(
    path_or_file: PathOrFile,
    tensor: str | None = None,
    *,
    offset: int | None = None,
    source: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> PositionTable:
    """The position table in a .safetensors, .npy, .npz or .pt file (or binary file object).

    ``tensor`` names the one to read; without it the first that is named like a position table is
    taken, a text's before an image's and an encoder's before a decoder's, or the only matrix.
    float16 and bfloat16 numbers are read exactly, float64 ones rounded to float32, a first or
    second axis of length 1 is dropped: (1, n, d) and (n, 1, d) are n × d. ``offset`` is how many
    first rows belong to no position, by default what name and shape suggest. ``source`` names the
    file in messages, by default its own name. Raises `CheckpointError` for pickled code or
    objects, for a file of more than ``limit`` bytes or one that unpacks to more, for a truncated
    one, for a tensor that isn't two axes of finite real numbers.

    >>> import io
    >>> import numpy as np
    >>> import posembed_core as pc
    >>> file = io.BytesIO()
    >>> np.save(file, np.eye(3, dtype=np.float32))
    >>> pc.load_table(file, source="eye.npy").max_seq_len
    3
    """
    with _opened(path_or_file, source) as (file, called):
        entries = tensor_entries(file, called, limit)
        entry = _by_name(entries, tensor, called) if tensor is not None else _best(entries, called)
        if not entry.is_floating:
            raise CheckpointError(
                f"{entry.name!r} in {called} holds {entry.dtype}, but a position table holds real "
                "numbers (float32, float16, bfloat16 or float64); choose another tensor"
            )
        weight = entry.read()
    return _table(weight, entry, called, offset, _not_shown(entries))


def list_tables(
    path_or_file: PathOrFile, *, source: str | None = None, limit: int = DEFAULT_LIMIT
) -> list[TensorInfo]:
    """The tensors of a file that could be position tables, in the order of `load_table`'s choice.

    Matrices of real numbers (an axis of length 1 before the last doesn't count). Raises
    `CheckpointError` as `load_table` does for a file that can't be read.

    >>> import io
    >>> from safetensors.torch import save
    >>> file = io.BytesIO(save({"wpe": torch.ones(4, 2)}))
    >>> [(info.name, info.shape) for info in list_tables(file)]
    [('wpe', (4, 2))]
    """
    with _opened(path_or_file, source) as (file, called):
        entries = tensor_entries(file, called, limit)
    return [
        TensorInfo(e.name, e.shape, e.dtype, looks_like_positions(e.name, e.shape))
        for e in sorted(filter(_is_matrix, entries), key=_rank_in(entries))
    ]


def read_tensor(path_or_file: PathOrFile, name: str, *, limit: int = DEFAULT_LIMIT) -> Tensor:
    """One tensor of a file, of any shape and type; from .safetensors only its bytes are read.

    Raises `CheckpointError` as `load_table` does, and for a name that isn't there.

    >>> import io
    >>> from safetensors.torch import save
    >>> file = io.BytesIO(save({"wpe": torch.ones(4, 2)}))
    >>> read_tensor(file, "wpe").shape
    torch.Size([4, 2])
    """
    with _opened(path_or_file, None) as (file, called):
        return _by_name(tensor_entries(file, called, limit), name, called).read()


@contextlib.contextmanager
def _opened(path_or_file: PathOrFile, source: str | None) -> Iterator[tuple[BinaryFile, str]]:
    if not isinstance(path_or_file, str | os.PathLike):
        name = getattr(path_or_file, "name", None)
        yield path_or_file, source or (Path(name).name if isinstance(name, str) else "the file")
        return
    path = Path(path_or_file)
    try:
        file = path.open("rb")
    except OSError as error:
        raise CheckpointError(
            f"{path} can't be opened ({error.strerror}); give the path of a file"
        ) from error
    with file:
        yield file, source or path.name


def _is_matrix(entry: TensorEntry) -> bool:
    if not entry.is_floating or not is_flat(entry.shape):
        return False
    # The kernels of a depthwise convolution are (channels, 1, width), too.
    named = is_named_like_positions(entry.name) or "." not in entry.name
    return len(entry.shape) == 2 or entry.shape[0] == 1 or named


def _rank_in(entries: list[TensorEntry]) -> Callable[[TensorEntry], tuple[int, ...]]:
    """What comes first: position tables, of a size that can be shown, of text, of the encoder.

    The encoder of a model with convolutions before it (Whisper) reads sound; its decoder's table
    is the text's.
    """
    of_sound = any("conv1" in entry.name for entry in entries)

    def rank(entry: TensorEntry) -> tuple[int, ...]:
        likely = looks_like_positions(entry.name, entry.shape)
        if not likely:
            return (1, 0, 0, 0)
        side = "encoder." if of_sound else "decoder."
        return (
            0,
            flattened(entry.shape)[0] > MAX_LENGTH + 2,
            not_text(entry.name, entry.shape),
            side in entry.name,
        )

    return rank


def _not_shown(entries: list[TensorEntry]) -> list[str]:
    """The tensors named like position tables that can't be one here, with their shapes."""
    return [
        f"{entry.name!r} ({dims(entry.shape)})"
        for entry in entries
        if entry.is_floating and is_named_like_positions(entry.name) and not is_flat(entry.shape)
    ][:2]


def _by_name(entries: list[TensorEntry], name: str, source: str) -> TensorEntry:
    for entry in entries:
        if entry.name == name:
            return entry
    raise CheckpointError(
        f"{source} has no tensor {name!r}; it has {_names(entries) or 'none at all'}"
    )


def _best(entries: list[TensorEntry], source: str) -> TensorEntry:
    matrices = [entry for entry in entries if _is_matrix(entry)]
    likely = [entry for entry in matrices if looks_like_positions(entry.name, entry.shape)]
    if likely:
        return min(likely, key=_rank_in(entries))
    if len(matrices) == 1:
        return matrices[0]
    if len(entries) == 1:
        return entries[0]  # the only one: any fault in it is reported later
    if not matrices:
        raise CheckpointError(f"{source} holds no matrix of real numbers: {_names(entries)}")
    raise CheckpointError(
        f"{source} holds {len(matrices)} matrices and none is named like a position table; "
        f"choose one with tensor=…: {_names(matrices)}"
    )


def _names(entries: list[TensorEntry]) -> str:
    shown = [f"{entry.name} ({dims(entry.shape)})" for entry in entries[:6]]
    return ", ".join(shown) + (" …" if len(entries) > 6 else "")


def _table(
    weight: Tensor, entry: TensorEntry, source: str, offset: int | None, not_shown: list[str]
) -> PositionTable:
    notes: list[str | None] = []
    if len(entry.shape) == 3 and is_flat(entry.shape):
        notes.append(squeezed(entry.shape))
        weight = weight.reshape(flattened(entry.shape))
    notes.append(unlike_positions(entry.name, not_shown))
    weight = weight.to(torch.float32)
    suggested, reason = leading_rows(entry.name, entry.shape) if weight.ndim == 2 else (0, None)
    if offset is None:
        offset = suggested
    elif offset != suggested:
        reason = prefix_rows(offset)
    check_table(weight, entry.name, offset)
    if entry.dtype == "float64":
        notes.append("float64 numbers rounded to float32")
    elif entry.dtype != "float32":
        notes.append(f"{entry.dtype} numbers, read exactly")
    notes += [reason, zero_rows(weight, offset)]
    return PositionTable(
        weight=weight,
        name=entry.name,
        source=source,
        offset=offset,
        notes=tuple(note for note in notes if note),
    )
