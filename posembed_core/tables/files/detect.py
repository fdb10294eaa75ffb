"""The tensors in a file, by name, read one at a time: .safetensors, .npy, .npz and torch's .pt.

A file's first bytes, not its name, say what it is. Sizes are checked before anything is read,
pickled code never runs, nothing is written to disk.
"""

from __future__ import annotations

from posembed_core.tables.files.entries import BinaryFile, TensorEntry, megabytes
from posembed_core.tables.files.npy import npy_entries
from posembed_core.tables.files.safetensors import HEADER_LIMIT, safetensors_entries
from posembed_core.tables.files.zip import legacy_torch_entries, zip_entries
from posembed_core.tables.position_table import CheckpointError

DEFAULT_LIMIT = 256 * 2**20  # bytes


def tensor_entries(file: BinaryFile, source: str, limit: int) -> list[TensorEntry]:
    """Every tensor of a file, unread. Raises `CheckpointError` for a file that can't be used.

    >>> import io
    >>> import torch
    >>> from safetensors.torch import save
    >>> file = io.BytesIO(save({"wpe": torch.ones(4, 2)}))
    >>> [entry.name for entry in tensor_entries(file, "a file", DEFAULT_LIMIT)]
    ['wpe']
    """
    size = check_size(file, source, limit)
    magic = file.read(16)
    file.seek(0)
    # A safetensors file begins with a number, which may begin with any byte, also with those of
    # another format ("PK", or a pickle's 0x80). Read as a number, the first eight bytes of every
    # other format are beyond any header's length.
    is_header = magic[8:9] == b"{"
    if is_header and int.from_bytes(magic[:8], "little") <= HEADER_LIMIT:
        return safetensors_entries(file, source, size)
    if magic.startswith(b"\x93NUMPY"):
        return npy_entries(file, source, size)
    if magic.startswith(b"PK"):
        return zip_entries(file, source, limit)
    if magic.startswith(b"\x80"):
        return legacy_torch_entries(file, source, limit)
    if is_header:
        return safetensors_entries(file, source, size)
    raise CheckpointError(
        f"{source} is not a tensor file: its first bytes are not those of .safetensors, .npy, "
        ".npz or .pt; save the table as one of these"
    )


def check_size(file: BinaryFile, source: str, limit: int) -> int:
    """The file's size in bytes; `CheckpointError` when it is empty or over the limit.

    >>> import io
    >>> check_size(io.BytesIO(b"12345"), "a file", DEFAULT_LIMIT)
    5
    """
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
