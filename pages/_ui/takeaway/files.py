"""What a page shows, for download: arrays as files, and the whole view as one archive.

Files are made piece by piece when they are asked for, so that nothing is computed before then, a
page can show progress, and a large array is never in memory twice.
"""

from __future__ import annotations

import io
import json
import math
import platform
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

import numpy as np
from jaxtyping import Float
from torch import Tensor

from pages._ui.takeaway.drawings import Drawing

MAX_BYTES = 64_000_000
FORMATS = ("csv", "npy", "safetensors")
_PIECE = 2**18  # values
_CSV_BYTES = 13  # of a float32 with its comma, at most "-1.2345678e-05,"; most are shorter
_TEXTS = 3_500_000  # bytes of an archive without its arrays: a compressed plotly.js and picture
_LIBRARIES = ("torch", "numpy", "safetensors")


class TooLargeError(ValueError):
    """A file would be larger than `MAX_BYTES`; the message says so in one sentence."""


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix that is computed when it is downloaded, some rows at a time.

    ``name`` is what its file is called, ``about`` a few words on what it is; ``rows`` gives a slice
    of its rows. ``row`` names what a row is, ``columns`` the columns unless just numbered.
    """

    name: str
    about: str
    shape: tuple[int, int]
    rows: Callable[[slice], Float[Tensor, "rows columns"]]
    row: str = "position"
    columns: tuple[str, ...] = ()
    dtype: str = "<f4"

    def pieces(self) -> Iterator[np.ndarray]:
        """All rows in their order, some at a time, each piece contiguous."""
        step = max(1, _PIECE // self.shape[1])
        for start in range(0, self.shape[0], step):
            part = self.rows(slice(start, min(start + step, self.shape[0])))
            yield np.ascontiguousarray(part.detach().numpy(), dtype=self.dtype)

    def size(self, kind: str) -> int:
        """The bytes of its file; for CSV an upper estimate."""
        count = math.prod(self.shape)
        if kind == "csv":
            return count * _CSV_BYTES * np.dtype(self.dtype).itemsize // 4 + 8 * self.shape[0]
        return count * np.dtype(self.dtype).itemsize + 256 + len(self.about)


def check_size(table: Table, kind: str) -> None:
    """Raise `TooLargeError` where the table's file would be larger than `MAX_BYTES`."""
    size = table.size(kind)
    if size > MAX_BYTES:
        n, d = table.shape
        raise TooLargeError(
            f"{table.name}.{kind} would have {n:,} × {d:,} values, {said_bytes(size)}, and files "
            f"go up to {said_bytes(MAX_BYTES)}: choose a smaller size, or let the script compute it"
        )


def said_bytes(size: int) -> str:
    """A number of bytes in words: ``33 kB``, ``4.2 MB``."""
    for unit, name in ((1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.0f} {name}" if size >= 10 * unit else f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def encoded(table: Table, kind: str) -> Iterator[bytes]:
    """The table's file in pieces, every number with all its digits.

    Raises `TooLargeError` before anything is computed.
    """
    check_size(table, kind)
    return {"csv": _csv, "npy": _npy, "safetensors": _safetensors}[kind](table)


def _npy(table: Table) -> Iterator[bytes]:
    head = io.BytesIO()
    described = {"descr": table.dtype, "fortran_order": False, "shape": table.shape}
    np.lib.format.write_array_header_1_0(head, described)
    yield head.getvalue()
    for piece in table.pieces():
        yield piece.tobytes()


def _safetensors(table: Table) -> Iterator[bytes]:
    size = math.prod(table.shape) * np.dtype(table.dtype).itemsize
    kind = {"<f4": "F32", "<f8": "F64"}[table.dtype]
    entry = {"dtype": kind, "shape": list(table.shape), "data_offsets": [0, size]}
    head = json.dumps({"__metadata__": {"about": table.about}, table.name: entry}).encode()
    head += b" " * (-len(head) % 8)
    yield len(head).to_bytes(8, "little") + head
    for piece in table.pieces():
        yield piece.tobytes()


def _csv(table: Table) -> Iterator[bytes]:
    yield (
        ",".join([table.row, *(table.columns or map(str, range(table.shape[1])))]).encode() + b"\n"
    )
    position = 0
    for piece in table.pieces():
        # The shortest text that reads back as the same number.
        lines = []
        for line in piece.astype(str).tolist():
            lines.append(f"{position},{','.join(line)}\n")
            position += 1
        yield "".join(lines).encode()


@dataclass(frozen=True)
class Text:
    """A text file: ``name`` with its extension, a few words on what it is, and how it is made."""

    name: str
    about: str
    make: Callable[[], str]


@dataclass(frozen=True, eq=False)
class View:
    """All that a page shows for one setting.

    ``name`` is the files' name, ``about`` says what is seen and how it was computed, in Markdown;
    ``settings`` are what was chosen, in words. ``pictures`` make the self-contained HTML file of
    each chart, and ``scripts`` each script, by their names: "" for the only one. ``drawings`` are
    the charts as a browser drew them.
    """

    name: str
    title: str
    about: str
    link: str
    settings: Mapping[str, str]
    tables: Sequence[Table]
    pictures: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    scripts: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    texts: Sequence[Text] = ()
    drawings: Sequence[Drawing] = ()

    def named(self, part: str) -> str:
        """What the files of one of several parts are called; "" for the only one."""
        return f"{self.name}-{part}" if part else self.name

    def words(self) -> list[Text]:
        """The archive's text files, except the README."""
        alone, plain = "; it opens in a browser without a network", " in plain PyTorch"
        pages = [
            Text(f"{self.named(part)}.html", _of("picture", part) + alone, make)
            for part, make in self.pictures.items()
        ]
        scripts = [
            Text(f"{self.named(part)}.py", _of("same numbers", part) + plain, make)
            for part, make in self.scripts.items()
        ]
        return [*pages, *scripts, *self.texts]

    def size(self) -> int:
        """About how many bytes the archive has."""
        return self._besides() + sum(table.size("npy") for table in self.kept())

    def kept(self) -> list[Table]:
        """The tables that fit into the archive together, the first ones first."""
        room, kept = MAX_BYTES - self._besides(), []
        for table in self.tables:
            if table.size("npy") <= room:
                room -= table.size("npy")
                kept.append(table)
        return kept

    def _besides(self) -> int:
        drawn = sum(len(drawing.data) for drawing in self.drawings)
        return _TEXTS * max(1, len(self.pictures)) + drawn


def _of(what: str, part: str) -> str:
    return f"the {what} of {part}" if part else f"the {what}"


def archive(view: View, libraries: Sequence[str] = ()) -> Iterator[float | bytes]:
    """The view as one zip: shares of the work done, then the archive's bytes.

    A README, the pictures, scripts and other texts, and each array that fits as .npy. Equal views
    give equal bytes. ``libraries`` are named with their versions besides the core's own.
    """
    buffer, kept = io.BytesIO(), view.kept()
    total, done = view.size(), 0
    words = view.words()
    with zipfile.ZipFile(buffer, "w") as file:

        def write(name: str, data: str | bytes, compression: int = zipfile.ZIP_DEFLATED) -> None:
            file.writestr(_entry(f"{view.name}/{name}", compression), data)

        write("README.md", readme(view, libraries))
        for text in words:
            write(text.name, text.make())
            done += _TEXTS // len(words)
            yield done / total
        for drawing in view.drawings:
            stored = zipfile.ZIP_STORED if drawing.kind == "png" else zipfile.ZIP_DEFLATED
            write(f"{view.named(drawing.name)}.{drawing.kind}", drawing.data, stored)
        for table in kept:
            # Numbers like these hardly compress, so they are stored as they are.
            with file.open(
                _entry(f"{view.name}/{table.name}.npy", zipfile.ZIP_STORED), "w"
            ) as entry:
                for piece in encoded(table, "npy"):
                    entry.write(piece)
                    yield min(1.0, max(done, _TEXTS + buffer.tell()) / total)
    yield buffer.getvalue()


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    # The earliest date that a zip can have, so that the same view gives the same bytes.
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    return entry


def readme(view: View, libraries: Sequence[str] = ()) -> str:
    """What the archive is, the setting, the link, how it was computed, and by which versions."""
    kept = view.kept()
    files = [f"- `{text.name}`: {text.about}" for text in view.words()]
    files += [
        f"- `{view.named(drawing.name)}.{drawing.kind}`: {_of('picture', drawing.name)} as it was "
        "on the screen"
        for drawing in view.drawings
    ]
    files += [
        f"- `{table.name}.npy`: {table.about} ({table.shape[0]} × {table.shape[1]}, "
        f"{np.dtype(table.dtype).name})"
        for table in kept
    ]
    left_out = [table.name for table in view.tables if table not in kept]
    if left_out:
        files.append(
            f"\nToo large for this archive of up to {said_bytes(MAX_BYTES)}: {', '.join(left_out)}."
        )
    versions = {"Python": platform.python_version()}
    versions |= {name: version(name) for name in (*_LIBRARIES, *libraries)}
    return "\n".join(
        [
            f"# {view.title}",
            "",
            view.about,
            "",
            "## Setting",
            "",
            *(f"- {name}: {value}" for name, value in view.settings.items()),
            "",
            f"Link: {view.link}",
            "",
            "## Files",
            "",
            *files,
            "",
            'Read an array with `numpy.load("name.npy")`.',
            "",
            "## Computed with",
            "",
            *(f"- {name} {number}" for name, number in versions.items()),
            "",
        ]
    )
