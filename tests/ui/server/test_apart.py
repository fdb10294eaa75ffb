"""What strangers send is read in a process apart, which may be lost; the server never is."""

from __future__ import annotations

import io
import json
import os
import signal
import struct
import time
import zipfile
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from safetensors.torch import save

import posembed_core as pc
from pages._ui.server.apart import Apart, RefusedError
from pages._ui.server.drawn import is_svg
from pages._ui.server.tables import MOST_LISTED, table_in, tables_in
from posembed_core.tables.files.checkpoints import list_tables
from posembed_core.tables.files.entries import MOST_TENSORS


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    """A process with four seconds for a file."""
    process = Apart(cpu_seconds=4)
    process.start()
    yield process
    process.close()


def spin(_data: bytes) -> tuple[None, bytes]:
    while True:
        pass


def wait(_data: bytes) -> tuple[None, bytes]:
    time.sleep(10_000)
    return None, b""


def hoard(_data: bytes) -> tuple[None, bytes]:
    return None, bytes(bytearray(2**31))


def break_down(data: bytes) -> tuple[None, bytes]:
    raise KeyError(data)


def environment(_data: bytes) -> tuple[list[str], bytes]:
    return [*os.environ], b""


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def pt(pickled: bytes) -> bytes:
    """A file of torch whose pickle is this one."""
    file = io.BytesIO()
    torch.save({"wpe": torch.ones(4, 2)}, file)
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, pickled if name.endswith("data.pkl") else old.read(name))
    return out.getvalue()


def header(entries: dict[str, object]) -> bytes:
    """A .safetensors file of this header and eight numbers."""
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + bytes(32)


def described(*shape: int) -> dict[str, object]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}


@pytest.mark.parametrize("reader", [spin, hoard])
def test_a_reader_that_is_lost_is_a_sentence_and_replaced(apart: Apart, reader: object) -> None:
    table = npy(np.eye(4, dtype=np.float32))
    assert table_in(apart.read, table, "a.npy", "array").max_seq_len == 4
    before = apart.pid
    with pytest.raises(RefusedError, match="more than the time or the memory that a file has"):
        apart.read(reader, b"")  # type: ignore[arg-type]
    assert apart.pid != before
    assert table_in(apart.read, table, "a.npy", "array").max_seq_len == 4


def test_a_reader_that_waits_for_ever_is_left() -> None:
    apart = Apart(wall_seconds=0.2)
    with pytest.raises(RefusedError, match="more than the time"):
        apart.read(wait, b"")
    apart.close()


def test_an_unforeseen_error_names_no_text_of_a_stranger(apart: Apart) -> None:
    before = apart.pid
    with pytest.raises(RuntimeError, match=r"^a reader failed: KeyError in break_down$"):
        apart.read(break_down, b"secret")
    assert apart.pid == before


def test_the_process_holds_no_secret_and_ends_with_its_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", "hush")
    apart = Apart()
    names, _ = apart.read(environment, b"")
    assert "PATH" in names
    assert "STREAMLIT_SERVER_COOKIE_SECRET" not in names
    process, connection = apart._process, apart._connection
    assert process is not None
    assert connection is not None
    process.send_signal(signal.SIGINT)  # Ctrl-C reaches both
    assert apart.read(environment, b"")[0] == names
    connection.close()  # as the system does for a server that was killed
    assert process.wait(30) == 0


def test_a_table_crosses_over_exactly(apart: Apart) -> None:
    weight = torch.randn(514, 16)
    data = save({"roberta.embeddings.position_embeddings.weight": weight, "x": torch.ones(2, 2)})
    infos, count = tables_in(apart.read, data, "r.safetensors")
    assert infos == list_tables(io.BytesIO(data), source="r.safetensors")
    assert count == 2
    own = table_in(apart.read, data, "r.safetensors", infos[0].name)
    direct = pc.load_table(io.BytesIO(data), infos[0].name, source="r.safetensors")
    assert torch.equal(own.weight, weight)
    assert own.digest == direct.digest
    assert own.notes == direct.notes
    assert table_in(apart.read, data, "r.safetensors", infos[0].name, 0).offset == 0


BYTEARRAY = b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R."
NESTED = b"\x80\x02" + b"]" * 500_000 + b"a" * 499_999 + b"."
HURTS = {
    "a pickle that asks for 2 GB": (
        lambda: pt(BYTEARRAY), "pickled code|more memory than there is|more than the time"
    ),
    "nested containers": (lambda: pt(NESTED), "nests containers deeper than 32"),
    "a zero and a huge side": (
        lambda: header({"wpe": described(0, 2**62)}), "since one of its sides is 0"
    ),
    "a zero and a huge side of an array": (
        lambda: npy(np.zeros((0, 8), np.float32)).replace(
            b"(0, 8), }" + b" " * 16, b"(0, 4611686018427387904), }"[:25]
        ), "header"
    ),
    "a side beyond all numbers": (
        lambda: header({"wpe": described(0, 10**300)}), "shape of 'wpe' is none"
    ),
    "a million sides": (
        lambda: header({"wpe": described(*[2**60] * 100_000)}), "shape of 'wpe' is none"
    ),
    "190,000 tensors": (
        lambda: header({str(i): described(0, 2) for i in range(190_000)}), "holds 190,000 tensors"
    ),
    "an endless name": (
        lambda: save({"w" * 10**6: torch.ones(4, 2)}), "a name of more than 500 characters"
    ),
}  # fmt: skip


@pytest.mark.parametrize("hurt", HURTS)
def test_what_hurt_a_server_is_refused_in_a_sentence(apart: Apart, hurt: str) -> None:
    make, sentence = HURTS[hurt]
    data, before = make(), apart.pid
    with pytest.raises(pc.CheckpointError, match=sentence):
        first_table(apart, data)
    assert apart.pid == before


def first_table(apart: Apart, data: bytes) -> pc.PositionTable:
    infos, _ = tables_in(apart.read, data, "a file")
    return table_in(apart.read, data, "a file", infos[0].name)


def test_258_kb_of_253_mb_are_unpacked_apart(apart: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    np.savez_compressed(file, wpe=np.zeros((8100, 8190), np.float32))
    data = file.getvalue()
    assert len(data) < 260_000

    def unpack_here(*_args: object) -> None:
        raise AssertionError("unpacked in the server's own process")

    monkeypatch.setattr(zipfile, "ZipFile", unpack_here)
    with pytest.raises(pc.CheckpointError, match="own process"):
        tables_in(lambda reader, *args: reader(*args), data, "a file")
    infos, _ = tables_in(apart.read, data, "a file")
    assert [info.shape for info in infos] == [(8100, 8190)]


def test_of_many_tensors_the_first_are_listed(apart: Apart) -> None:
    names = [f"layers.{i}.weight" for i in range(MOST_TENSORS - 1)] + ["wpe"]
    infos, count = tables_in(apart.read, header(dict.fromkeys(names, described(0, 2))), "a file")
    assert count == len(names)
    assert len(infos) == MOST_LISTED
    assert infos[0].name == "wpe"


@pytest.mark.parametrize("spaces", [64_000, 8_000_000])
def test_a_drawing_of_spaces_is_looked_at_once(apart: Apart, spaces: int) -> None:
    start = '<svg xmlns="http://www.w3.org/2000/svg"><g fill="url('
    drawing = start.encode() + b" " * spaces + b'#a)"/></svg>'
    assert apart.read(is_svg, drawing) == (True, b"")
    assert apart.read(is_svg, drawing.replace(b"#", b"/")) == (False, b"")
