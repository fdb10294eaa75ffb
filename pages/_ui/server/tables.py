"""Tables out of strangers' files, which a process apart reads."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import torch

from posembed_core.tables.files.checkpoints import (
    CheckpointError,
    PositionTable,
    TensorInfo,
    list_tables,
    load_table,
)

MOST_LISTED = 1_000
MOST_OF_A_NAME = 500  # characters; the longest of a real model has about a hundred


def tables_in(
    read: Callable[..., tuple[Any, Any]], data: bytes | memoryview, source: str
) -> tuple[list[TensorInfo], int]:
    """The first tensors that could be position tables, likely ones first, and how many there are.

    ``read`` is `Apart.read`. Raises `CheckpointError`.
    """
    try:
        (listed, count), _ = read(read_names, data, source)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    return [TensorInfo(name, tuple(shape), *rest) for name, shape, *rest in listed], count


def table_in(
    read: Callable[..., tuple[Any, Any]],
    data: bytes | memoryview,
    source: str,
    tensor: str,
    offset: int | None = None,
) -> PositionTable:
    """A table of a file, as `load_table` reads it. Raises `CheckpointError`."""
    try:
        (shape, name, offset, notes), numbers = read(read_table, data, source, tensor, offset)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    weight = torch.frombuffer(numbers, dtype=torch.float32).reshape(shape)
    return PositionTable(weight=weight, name=name, source=source, offset=offset, notes=tuple(notes))


def read_names(data: bytes, source: str) -> tuple[Any, bytes]:
    """For the process apart: what `tables_in` returns, and no numbers."""
    file = io.BytesIO(data)
    infos = list_tables(file, source=source)
    if not infos:
        load_table(file, source=source)  # raises, and says what the file holds instead
    if any(len(info.name) > MOST_OF_A_NAME for info in infos):
        raise CheckpointError(
            f"{source} has a tensor with a name of more than {MOST_OF_A_NAME} characters; "
            "give it a short one"
        )
    return ([astuple(info) for info in infos[:MOST_LISTED]], len(infos)), b""


def read_table(data: bytes, source: str, tensor: str, offset: int | None) -> tuple[Any, memoryview]:
    """For the process apart: what a table is beside its numbers, and these."""
    table = load_table(io.BytesIO(data), tensor, offset=offset, source=source)
    facts = (tuple(table.weight.shape), table.name, table.offset, table.notes)
    return facts, table.weight.contiguous().numpy().data.cast("B")
