"""NumPy's .npy read without pickle: the header is checked before its array is.

`numpy.lib.format` would read a header, too. But it reads as many bytes as the header claims before
it checks that number, and it retries what it can't parse as Python 2, with a warning to the whole
process; here a stranger's file meets a bound and an error.
"""

from __future__ import annotations

import ast
import operator

import numpy as np
import torch
from torch import Tensor

from posembed_core.tables.files.entries import BinaryFile, TensorEntry, check_elements, is_shape
from posembed_core.tables.position_table import CheckpointError

_HEADER_LIMIT = 10_000  # bytes, numpy's own bound for what literal_eval may see


def npy_entries(file: BinaryFile, source: str, size: int, name: str = "array") -> list[TensorEntry]:
    """The one array of a .npy file of ``size`` bytes, called ``name``.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.ones((4, 2), np.float32))
    >>> size = file.seek(0)
    >>> (entry,) = npy_entries(file, "a file", len(file.getvalue()))
    >>> entry.shape, entry.dtype
    ((4, 2), 'float32')
    """
    shape, fortran, dtype, is_bfloat16 = _header(file, source)
    if dtype.hasobject:
        raise CheckpointError(
            f"{name!r} in {source} holds Python objects, which are pickled code and never "
            "loaded; save an array of numbers (float32)"
        )
    start = file.tell()

    def read() -> Tensor:
        needed = check_elements(name, source, shape, dtype.itemsize, size - start)
        file.seek(start)
        flat = np.frombuffer(file.read(needed), dtype=dtype)
        array = flat.reshape(shape, order="F" if fortran else "C")
        # A copy in the machine's byte order; torch knows no other.
        native = array.astype(dtype.newbyteorder("="), order="C")
        if is_bfloat16:
            return torch.from_numpy(native).view(torch.bfloat16)
        try:
            return torch.from_numpy(native)
        except TypeError as error:
            raise CheckpointError(
                f"{name!r} in {source} holds {dtype.name}, which can't be read; save it as float32"
            ) from error

    called = "bfloat16" if is_bfloat16 else dtype.newbyteorder("=").name
    return [TensorEntry(name, shape, called, read)]


def _header(file: BinaryFile, source: str) -> tuple[tuple[int, ...], bool, np.dtype, bool]:
    """Shape, whether columns come first, type, and whether that stands for bfloat16.

    numpy.lib.format, "Format Version 1.0".
    """
    # \x93NUMPY, two bytes of version, the header's length (2 bytes in 1.0, else 4), a dict's repr
    version = file.read(8)[6:]
    length = int.from_bytes(file.read(2 if version[:1] == b"\x01" else 4), "little")
    try:
        header = ast.literal_eval(file.read(min(length, _HEADER_LIMIT)).decode("latin-1").strip())
        shape = tuple(map(operator.index, header["shape"]))
        # NumPy has no bfloat16. ml_dtypes', which JAX and others write, is saved as "<V2", which
        # no other type of two bytes is; NumPy's own raw bytes are "|V2".
        is_bfloat16 = header["descr"] == "<V2"
        dtype = np.dtype("<i2" if is_bfloat16 else header["descr"])
        fortran = bool(header["fortran_order"])
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError) as error:
        raise CheckpointError(
            f"{source} has a damaged .npy header; save the array again with numpy.save"
        ) from error
    if not is_shape(shape):
        raise CheckpointError(f"{source} has a damaged .npy header: its shape is none")
    return shape, fortran, dtype, is_bfloat16
