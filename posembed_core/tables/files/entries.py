"""A tensor in a file before it is read, and what the readers of all formats share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from posembed_core.tables.position_table import CheckpointError

MOST_TENSORS = 20_000  # of a file; the largest models' files have a few thousand
_MOST_SIDES = 64  # numpy's own bound
_MOST_NUMBERS = 2**40  # torch multiplies the sides even where one of them is 0


@runtime_checkable
class BinaryFile(Protocol):
    """What a file object must offer: an open file, a BytesIO, an upload."""

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


def is_shape(shape: tuple[int, ...]) -> bool:
    """Whether these can be the sides of a tensor, as torch counts them.

    >>> is_shape((512, 64)), is_shape((-1, 64)), is_shape((2**64,)), is_shape((1,) * 100)
    (True, False, False, False)
    """
    return len(shape) <= _MOST_SIDES and all(0 <= side < 2**63 for side in shape)


def check_elements(
    name: str, source: str, shape: tuple[int, ...], item_bytes: int, available: int
) -> int:
    """The bytes that a tensor needs; `CheckpointError` when the file has fewer.

    >>> check_elements("wpe", "a file", (512, 64), 4, 2**20)
    131072
    """
    if 0 in shape and math.prod(side or 1 for side in shape) > _MOST_NUMBERS:
        raise CheckpointError(
            f"{name!r} in {source} holds no numbers, since one of its sides is 0; "
            "choose another tensor"
        )
    needed = math.prod(shape) * item_bytes
    if needed > available:
        raise CheckpointError(
            f"{source} is truncated: {name!r} needs {needed} bytes and {max(available, 0)} are "
            "there; copy or download the file again"
        )
    return needed


def tensor_from_bytes(data: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    """A tensor with its own memory, from little-endian bytes.

    >>> tensor_from_bytes(bytes([1, 2, 3, 4]), torch.uint8, (2, 2)).tolist()
    [[1, 2], [3, 4]]
    """
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def megabytes(count: int) -> str:
    """A number of bytes in words.

    >>> megabytes(3 * 2**20), megabytes(12)
    ('3 MB', '12 bytes')
    """
    return f"{count / 2**20:.3g} MB" if count >= 2**20 else f"{count} bytes"
