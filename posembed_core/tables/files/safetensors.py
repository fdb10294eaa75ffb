"""Safetensors read lazily: the header first, then only the bytes of the tensors asked for.

The format's specification is in huggingface/safetensors, README.md, "Format": eight bytes with the
header's length, the header in JSON, then the numbers. The format's own library reads lazily
from a path (`safe_open`) or takes a whole file as bytes (`deserialize`). An upload has no path,
and one table may be wanted out of hundreds of megabytes: here only its bytes are read.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor

from posembed_core.tables.files.entries import (
    MOST_TENSORS,
    BinaryFile,
    TensorEntry,
    check_elements,
    is_shape,
    tensor_from_bytes,
)
from posembed_core.tables.position_table import CheckpointError

_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
# The largest models' headers have a few MB; a parsed one takes many times its size.
HEADER_LIMIT = 16 * 2**20


def safetensors_entries(file: BinaryFile, source: str, size: int) -> list[TensorEntry]:
    """Every tensor that the header declares.

    >>> import io
    >>> from safetensors.torch import save
    >>> data = save({"wpe": torch.ones(4, 2)})
    >>> (entry,) = safetensors_entries(io.BytesIO(data), "a file", len(data))
    >>> entry.name, entry.shape, entry.dtype
    ('wpe', (4, 2), 'float32')
    """
    length = int.from_bytes(file.read(8), "little")
    if length > HEADER_LIMIT or 8 + length > size:
        raise CheckpointError(
            f"{source} is not a complete safetensors file: its header should have {length} bytes "
            f"and {size - 8} are there; copy or download the file again"
        )
    header = _header(file.read(length), source)
    if len(header) > MOST_TENSORS:
        raise CheckpointError(
            f"{source} holds {len(header):,} tensors, more than the limit of {MOST_TENSORS:,}; "
            "save the position table alone"
        )
    return [
        _entry(file, source, name, described, start=8 + length, size=size)
        for name, described in header.items()
        if name != "__metadata__"
    ]


def _header(text: bytes, source: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{source} has a damaged safetensors header: {error}") from error
    if not isinstance(header, dict):
        raise CheckpointError(f"{source} has a damaged safetensors header: it names no tensors")
    return header


def _entry(
    file: BinaryFile, source: str, name: str, described: Any, start: int, size: int
) -> TensorEntry:
    try:
        code = str(described["dtype"])
        shape = tuple(_whole(item) for item in described["shape"])
        begin, end = (_whole(item) for item in described["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{source} has a damaged safetensors header: the entry of {name!r} can't be read"
        ) from error
    if not is_shape(shape):
        raise CheckpointError(
            f"{source} has a damaged safetensors header: the shape of {name!r} is none"
        )
    dtype = _DTYPES.get(code)

    def read() -> Tensor:
        if dtype is None:
            raise CheckpointError(
                f"{name!r} in {source} is of type {code}, which can't be read; "
                f"convert it to one of {', '.join(_DTYPES)}"
            )
        needed = check_elements(name, source, shape, dtype.itemsize, size - start - begin)
        if needed != end - begin:
            raise CheckpointError(
                f"{source} has a damaged safetensors header: {name!r} needs {needed} bytes, "
                f"but {end - begin} are set aside"
            )
        file.seek(start + begin)
        return tensor_from_bytes(file.read(needed), dtype, shape)

    return TensorEntry(name, shape, str(dtype or code).removeprefix("torch."), read)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a size")
    return value
