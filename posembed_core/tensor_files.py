"""The tensors in a file, by name, read one at a time: .safetensors, .npy, .npz and torch's .pt.

What a file is, its first bytes say, not its name. Sizes are checked before anything is read,
pickled code never runs, nothing is written to disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from posembed_core.tables.position_table import CheckpointError

DEFAULT_LIMIT = 256 * 2**20  # bytes


@runtime_checkable
class BinaryFile(Protocol):
    """What is asked of a file object: an open file, a BytesIO, an upload."""

    def read(self, size: int = ..., /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> int: ...
    def tell(self) -> int: ...


@dataclass(frozen=True)
class TensorEntry:
    """One tensor of a file: what is known before it is read, and how to read it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], Tensor]

    @property
    def is_floating(self) -> bool:
        """Whether its numbers are real ones, such as ``float32`` or ``bfloat16``."""
        return "float" in self.dtype and "complex" not in self.dtype


def tensor_entries(file: BinaryFile, source: str, limit: int) -> list[TensorEntry]:
    """Every tensor of a file, unread. Raises `CheckpointError` for a file that can't be used."""
    # Each format loads only when a file of it comes.
    from posembed_core.archive_files import legacy_torch_entries, zip_entries
    from posembed_core.numpy_files import npy_entries
    from posembed_core.safetensors_files import safetensors_entries

    size = check_size(file, source, limit)
    magic = file.read(16)
    file.seek(0)
    if magic.startswith(b"\x93NUMPY"):
        return npy_entries(file, source, size)
    if magic.startswith(b"PK"):
        return zip_entries(file, source, limit)
    if magic.startswith(b"\x80"):
        return legacy_torch_entries(file, source, limit)
    if magic[8:9] == b"{":
        return safetensors_entries(file, source, size)
    raise CheckpointError(
        f"{source} is no tensor file: its first bytes are those of none of .safetensors, .npy, "
        ".npz and .pt; save the table as one of these"
    )


def check_size(file: BinaryFile, source: str, limit: int) -> int:
    """The file's size in bytes; `CheckpointError` when it is empty or over the limit."""
    size = file.seek(0, 2)
    file.seek(0)
    if size == 0:
        raise CheckpointError(f"{source} is empty; give a .safetensors, .npy, .npz or .pt file")
    if size > limit:
        raise CheckpointError(
            f"{source} has {megabytes(size)}, more than the limit of {megabytes(limit)}; "
            "save the position table alone"
        )
    return size


def check_elements(
    name: str, source: str, shape: tuple[int, ...], item_bytes: int, available: int
) -> int:
    """The bytes that a tensor needs; `CheckpointError` when the file has fewer."""
    needed = math.prod(shape) * item_bytes
    if needed > available:
        raise CheckpointError(
            f"{source} is truncated: {name!r} needs {needed} bytes and {max(available, 0)} are "
            "there; copy or download the file again"
        )
    return needed


def tensor_from_bytes(data: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    """A tensor of its own memory from little-endian bytes."""
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def megabytes(count: int) -> str:
    """Bytes as a reader says them."""
    return f"{count / 2**20:.3g} MB" if count >= 2**20 else f"{count} bytes"
