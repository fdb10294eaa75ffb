"""Files to take away: every number reads back, and none is larger than announced."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

from pages._ui.takeaway.files import (
    MAX_BYTES,
    Table,
    TooLargeError,
    View,
    archive,
    encoded,
    said_bytes,
)


def table_of(matrix: torch.Tensor, name: str = "token") -> Table:
    dtype = "<f8" if matrix.dtype == torch.float64 else "<f4"
    rows, columns = matrix.shape
    return Table(name, "some numbers", (rows, columns), lambda at: matrix[at], dtype=dtype)


def file(table: Table, kind: str) -> bytes:
    return b"".join(encoded(table, kind))


def from_csv(data: bytes, dtype: type) -> np.ndarray:
    lines = data.decode().splitlines()[1:]
    return np.array([[dtype(cell) for cell in line.split(",")[1:]] for line in lines], dtype=dtype)


def unasked(at: slice) -> torch.Tensor:
    raise AssertionError("this was not to be computed")


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=20))
def test_every_format_reads_back_bit_for_bit(numbers: list[list[float]]) -> None:
    for dtype, kind in ((torch.float32, np.float32), (torch.float64, np.float64)):
        matrix = torch.tensor(numbers, dtype=dtype)
        expected = matrix.numpy().tobytes()
        table = table_of(matrix)
        assert np.load(io.BytesIO(file(table, "npy"))).tobytes() == expected
        assert safetensors.numpy.load(file(table, "safetensors"))["token"].tobytes() == expected
        assert from_csv(file(table, "csv"), kind).tobytes() == expected


def test_many_pieces_make_one_file() -> None:
    matrix = torch.randn(700, 1000, generator=torch.Generator().manual_seed(1))
    table = table_of(matrix)
    assert len(list(table.pieces())) > 2
    assert np.array_equal(np.load(io.BytesIO(file(table, "npy"))), matrix)
    lines = file(table, "csv").decode().splitlines()
    assert lines[0].startswith("position,0,1,2,")
    assert [line.split(",")[0] for line in lines[1:]] == [str(row) for row in range(700)]
    for kind in ("csv", "npy", "safetensors"):
        assert len(file(table, kind)) <= table.size(kind)


def test_columns_have_names() -> None:
    table = Table("norms", "norms", (2, 2), lambda at: torch.ones(2, 2)[at], columns=("e", "h"))
    assert file(table, "csv") == b"position,e,h\n0,1.0,1.0\n1,1.0,1.0\n"


@pytest.mark.parametrize("kind", ["csv", "npy", "safetensors"])
def test_too_large_a_file_is_refused_before_anything_is_computed(kind: str) -> None:
    table = Table("combined", "h", (8192, 4096), unasked)
    with pytest.raises(TooLargeError) as refused:
        next(encoded(table, kind))
    message = str(refused.value)
    assert f"combined.{kind} would have 8,192 × 4,096 values" in message
    assert "files go up to 64 MB" in message
    assert "\n" not in message


def view_of(*tables: Table, picture: Callable[[], str] = lambda: "<html>") -> View:
    return View(
        name="posembed-rope-4x8",
        title="RoPE",
        about="What is seen.",
        link="http://localhost/?encoding=rope",
        settings={"encoding": "RoPE", "scale": "1"},
        tables=tables,
        pictures={"": picture},
        scripts={"": lambda: "print('hello')\n"},
    )


def finished(pieces: Iterator[float | bytes]) -> bytes:
    *shares, data = pieces
    assert all(isinstance(share, float) and 0 < share <= 1 for share in shares)
    assert shares == sorted(shares)
    assert isinstance(data, bytes)
    return data


def test_the_archive_says_what_it_is() -> None:
    matrix = torch.arange(32.0).reshape(4, 8)
    view = view_of(table_of(matrix))
    data = finished(archive(view, ["plotly"]))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        folder = "posembed-rope-4x8/"
        assert packed.testzip() is None
        assert sorted(packed.namelist()) == [
            f"{folder}README.md", f"{folder}posembed-rope-4x8.html",
            f"{folder}posembed-rope-4x8.py", f"{folder}token.npy",
        ]  # fmt: skip
        assert np.array_equal(np.load(io.BytesIO(packed.read(f"{folder}token.npy"))), matrix)
        readme = packed.read(f"{folder}README.md").decode()
    for phrase in (
        "# RoPE", "What is seen.", "- scale: 1", "Link: http://localhost/?encoding=rope",
        "`token.npy`: some numbers (4 × 8, float32)", "- torch 2.", "- plotly ", "- Python 3.",
    ):  # fmt: skip
        assert phrase in readme
    assert data == finished(archive(view, ["plotly"]))


def test_the_archive_leaves_out_what_does_not_fit_and_says_so() -> None:
    small = table_of(torch.zeros(3, 3), "norms")
    view = view_of(small, Table("combined", "h", (8192, 4096), unasked))
    data = finished(archive(view))
    assert len(data) < 10_000
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        readme = packed.read("posembed-rope-4x8/README.md").decode()
        assert not any("combined" in name for name in packed.namelist())
    assert "Too large for this archive of up to 64 MB: combined." in readme


def test_an_archive_is_no_larger_than_announced() -> None:
    tables = [Table(f"t{i}", "some", (4000, 1000), unasked) for i in range(10)]
    view = view_of(*tables)
    assert 0 < len(view.kept()) < 10
    assert view.size() <= MAX_BYTES


@pytest.mark.parametrize(
    ("size", "text"),
    [(12, "12 bytes"), (3200, "3.2 kB"), (33_000, "33 kB"), (134_217_728, "134 MB")],
)
def test_sizes_are_written_short(size: int, text: str) -> None:
    assert said_bytes(size) == text
