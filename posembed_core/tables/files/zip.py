"""Archives of tensors, .npz and torch's .pt, with every declared size checked before reading."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections import deque
from typing import Any

import torch
from torch import Tensor

from posembed_core.tables.files.entries import MOST_TENSORS, BinaryFile, TensorEntry, megabytes
from posembed_core.tables.files.npy import npy_entries
from posembed_core.tables.position_table import CheckpointError

# What zipfile and torch raise for a damaged archive; none of these errors names our file.
# An unknown compression raises a kind of RuntimeError.
_DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
)
# torch.save before 1.6: a pickle of protocol 2 that begins with this number.
_LEGACY_MAGIC = pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2)
_MEMBER_SIGNATURE = b"PK\x01\x02"
_MOST_NESTED = 32  # containers; a training state has about five


def zip_entries(file: BinaryFile, source: str, limit: int) -> list[TensorEntry]:
    """The tensors of an .npz or of a file from torch.save.

    >>> import numpy as np
    >>> file = io.BytesIO()
    >>> np.savez(file, wpe=np.ones((4, 2), np.float32))
    >>> size = file.seek(0)
    >>> [entry.name for entry in zip_entries(file, "a file", 2**20)]
    ['wpe']
    """
    data = file.read()
    if data.count(_MEMBER_SIGNATURE) > MOST_TENSORS:
        raise CheckpointError(
            f"{source} is a zip file of more than {MOST_TENSORS} members; save the table alone"
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGED as error:
        raise CheckpointError(
            f"{source} is a truncated or damaged zip file ({error}); "
            "copy or download the file again"
        ) from error
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > limit:
        raise CheckpointError(
            f"{source} unpacks to {megabytes(unpacked)}, more than the limit of "
            f"{megabytes(limit)}; save the position table alone"
        )
    names = archive.namelist()
    if any(name.rpartition("/")[2] == "data.pkl" for name in names):
        if any(m.compress_type != zipfile.ZIP_STORED for m in archive.infolist()):
            raise CheckpointError(
                f"{source} is a compressed torch file, which torch itself never writes; "
                "save it again with torch.save"
            )
        return _torch_entries(io.BytesIO(data), source, limit)
    arrays = [name for name in names if name.endswith(".npy")]
    if not arrays:
        raise CheckpointError(
            f"{source} is a zip file without arrays; give an .npz, or a .pt from torch.save"
        )
    return [entry for name in arrays for entry in _npz_member(archive, name, source)]


def _npz_member(archive: zipfile.ZipFile, name: str, source: str) -> list[TensorEntry]:
    # zipfile never unpacks more than the declared size, which has been checked.
    try:
        content = archive.read(name)
    except _DAMAGED as error:
        raise CheckpointError(
            f"{name!r} in {source} is damaged ({error}); copy or download the file again"
        ) from error
    short = name.removesuffix(".npy")
    if not content.startswith(b"\x93NUMPY"):
        raise CheckpointError(f"{name!r} in {source} is not an array; save it with numpy.savez")
    return npy_entries(io.BytesIO(content), source, len(content), short)


def legacy_torch_entries(file: BinaryFile, source: str, limit: int) -> list[TensorEntry]:
    """The tensors of a file from torch.save before 1.6; any other pickle is refused unread.

    >>> file = io.BytesIO()
    >>> torch.save({"wpe": torch.ones(4, 2)}, file, _use_new_zipfile_serialization=False)
    >>> size = file.seek(0)
    >>> [entry.name for entry in legacy_torch_entries(file, "a file", 2**20)]
    ['wpe']
    """
    data = file.read()
    if not data.startswith(_LEGACY_MAGIC):
        raise _pickled(source)
    return _torch_entries(io.BytesIO(data), source, limit)


def _pickled(source: str) -> CheckpointError:
    return CheckpointError(
        f"{source} holds pickled code or objects, which are never loaded; "
        "save the tensors alone (a state_dict, or .safetensors)"
    )


def _torch_entries(file: io.BytesIO, source: str, limit: int) -> list[TensorEntry]:
    # torch's unpickler builds only tensors and containers of them.
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise _pickled(source) from error
    except MemoryError as error:
        raise CheckpointError(
            f"{source} asks for more memory than there is; save the position table alone"
        ) from error
    except _DAMAGED as error:
        raise CheckpointError(
            f"{source} is a truncated or damaged torch file; copy or download it again"
        ) from error
    tensors = _tensors_in(content, source)
    if len(tensors) > MOST_TENSORS:
        raise CheckpointError(
            f"{source} holds {len(tensors):,} tensors, more than the limit of {MOST_TENSORS:,}; "
            "save the position table alone"
        )
    return [_torch_entry(name or "tensor", tensor, source, limit) for name, tensor in tensors]


def _torch_entry(name: str, tensor: Tensor, source: str, limit: int) -> TensorEntry:
    def read() -> Tensor:
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized:
            raise CheckpointError(
                f"{name!r} in {source} is a sparse, quantised or empty shell of a tensor; "
                "save it as a dense one"
            )
        # A tensor of stride 0 is small in the file but can be of any size in memory.
        if tensor.numel() * tensor.element_size() > limit:
            raise CheckpointError(
                f"{name!r} in {source} unpacks to "
                f"{megabytes(tensor.numel() * tensor.element_size())}, more than the limit of "
                f"{megabytes(limit)}; save the position table alone"
            )
        return tensor.detach().clone(memory_format=torch.contiguous_format)

    return TensorEntry(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), read)


def _tensors_in(content: Any, source: str) -> list[tuple[str, Tensor]]:
    """Every tensor in nested dicts, lists and tuples, by dotted name."""
    tensors: list[tuple[str, Tensor]] = []
    queue: deque[tuple[tuple[Any, ...], Any]] = deque([((), content)])
    entered: set[int] = set()  # a pickle may hold a list that holds itself
    while queue:
        keys, item = queue.popleft()
        if isinstance(item, Tensor):
            tensors.append((".".join(map(_written, keys)), item))
        elif isinstance(item, dict | list | tuple) and id(item) not in entered:
            if len(keys) > _MOST_NESTED:
                raise CheckpointError(
                    f"{source} nests containers deeper than {_MOST_NESTED}; "
                    "save the tensors alone (a state_dict, or .safetensors)"
                )
            entered.add(id(item))
            pairs = item.items() if isinstance(item, dict) else enumerate(item)
            queue.extend(((*keys, key), value) for key, value in pairs)
    return tensors


def _written(key: Any) -> str:
    """A key as a part of a name; what is neither text nor a small number may be of any size."""
    is_short = isinstance(key, int) and key.bit_length() < 64
    return str(key) if is_short or isinstance(key, str) else f"({type(key).__name__})"
