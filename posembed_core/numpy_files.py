"""NumPy's .npy read without pickle: the header is checked before its array is."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from posembed_core.position_table import CheckpointError
from posembed_core.tensor_files import TensorEntry, check_elements


def npy_entries(file: BinaryIO, source: str, size: int, name: str = "array") -> list[TensorEntry]:
    """The one array of a .npy file of ``size`` bytes, called ``name``."""
    shape, fortran, dtype = _header(file, source)
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
        return torch.from_numpy(array.astype(dtype.newbyteorder("="), order="C"))

    return [TensorEntry(name, shape, dtype.newbyteorder("=").name, read)]


def _header(file: BinaryIO, source: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        version = np.lib.format.read_magic(file)
        parse = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            parse = np.lib.format.read_array_header_2_0
        shape, fortran, dtype = parse(file)
    except (ValueError, SyntaxError, TypeError, RecursionError, EOFError) as error:
        raise CheckpointError(
            f"{source} has a damaged .npy header; save the array again with numpy.save"
        ) from error
    if any(side < 0 for side in shape):
        raise CheckpointError(f"{source} has a damaged .npy header: its shape is {shape}")
    return shape, fortran, dtype
