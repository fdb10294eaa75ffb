"""The button "Take away": the picture, the arrays, the link, and all of it as one archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages._ui import live
from pages._ui.escaped import in_markdown
from pages._ui.sentences import sentence
from pages._ui.takeaway.code import NothingShownError
from pages._ui.takeaway.drawings import MAX_DRAWINGS, read_drawings
from pages._ui.takeaway.files import (
    FORMATS,
    MAX_BYTES,
    Table,
    Text,
    TooLargeError,
    View,
    archive,
    check_size,
    encoded,
    said_bytes,
)

LIBRARIES = ("plotly", "streamlit")
# A larger file is made by a button of its own, with a progress bar.
_AT_ONCE = 8_000_000
_MIME = {"csv": "text/csv", "zip": "application/zip"}


def here() -> str:
    """The link to what is shown now; call it after the URL is written."""
    place, query = st.context.url or "", urlencode(st.query_params.to_dict())
    if not urlsplit(place).path:
        place += "/"
    return f"{place}?{query}" if query else place


def take_away_popover(view: Callable[[], View], charts: Mapping[str, str], *, key: str) -> None:
    """A button that opens all downloads for what is on the screen.

    ``charts`` are the keys of the page's live plots, by their names in `View.pictures`. Parts are
    made when asked for: ``view`` when the button is opened, a file when it is downloaded;
    ``view`` may raise `NothingShownError`, whose sentence is shown instead. Files go up to
    `MAX_BYTES`.
    """
    popover = st.popover("Take away", on_change="rerun", key=key, width="content")
    if not popover.open:
        return
    with popover:
        try:
            shown = view()
        except NothingShownError as error:
            st.caption(in_markdown(error))
            return
        st.markdown("**Picture**" if len(charts) < 2 else "**Pictures**")
        live.page.picture_buttons(charts, shown.name, key=f"{key}.picture")
        for part, page in shown.pictures.items():
            _page(shown, part, page, key)
        _arrays(shown, key)
        for text in shown.texts:
            _text(shown, text, key)
        st.markdown("**Link to this setting**")
        st.code(shown.link, None, wrap_lines=True)
        st.markdown("**All of it**")
        st.caption(
            f"One zip with a README, pictures, code, and the arrays that fit into "
            f"{said_bytes(MAX_BYTES)}."
        )
        _archive(shown, charts, key)


def _page(view: View, part: str, page: Callable[[], str], key: str) -> None:
    st.download_button(
        f"HTML{f' of {part}' if part else ''}, works without a network (5 to 8 MB)",
        page,
        f"{view.named(part)}.html",
        "text/html",
        on_click="ignore",
        key=f"{key}.html.{part}",
        width="stretch",
    )


def _text(view: View, text: Text, key: str) -> None:
    kind = text.name.rpartition(".")[2]
    st.download_button(
        f"{in_markdown(text.about[0].upper() + text.about[1:])} ({kind})",
        text.make,
        f"{view.name}-{text.name}",
        _MIME.get(kind, "text/plain"),
        on_click="ignore",
        key=f"{key}.text.{text.name}",
        width="stretch",
    )


def _archive(view: View, charts: Mapping[str, str], key: str) -> None:
    """The zip, made when asked for: the browser draws its pictures first."""
    label = f"Make zip, about {said_bytes(view.size())}"
    sent = live.page.bundle_button(label, charts, MAX_DRAWINGS, key=f"{key}.zip")
    if sent is None:
        return
    whole = replace(view, drawings=read_drawings(sent, charts))
    data = _with_bar(archive(whole, LIBRARIES), whole.size())
    _download(data, f"{view.name}.zip", key=f"{key}.zip.made")


def _arrays(view: View, key: str) -> None:
    st.markdown("**Arrays**")
    tables = {table.name: table for table in view.tables}
    with st.container(horizontal=True):
        table = tables[
            st.selectbox(
                "Array",
                tables,
                format_func=lambda name: _described(tables[name]),
                key=f"{key}.array",
                label_visibility="collapsed",
            )
        ]
        kind = st.segmented_control(
            "Format",
            FORMATS,
            default="npy",
            required=True,
            key=f"{key}.format",
            label_visibility="collapsed",
        )
    st.caption(f"{sentence(table.about)} Files go up to {said_bytes(MAX_BYTES)}.")
    try:
        check_size(table, kind)
    except TooLargeError as error:
        st.warning(sentence(error))
        return
    name = f"{view.name}-{table.name}.{kind}"
    _file(name, table.size(kind), lambda: encoded(table, kind), key=f"{key}.table")


def _described(table: Table) -> str:
    return f"{table.name}, {table.shape[0]} × {table.shape[1]}"


def _file(name: str, size: int, pieces: Callable[[], Iterator[bytes | float]], *, key: str) -> None:
    """A small file to download, or a button that first makes a large one."""
    kind = name.rpartition(".")[2]
    mime = _MIME.get(kind, "application/octet-stream")
    about = f"{kind}, about {said_bytes(size)}"
    if size <= _AT_ONCE:
        st.download_button(
            f"Download {about}",
            lambda: _whole(pieces()),
            name,
            mime,
            on_click="ignore",
            key=f"{key}.download",
            width="stretch",
        )
    elif st.button(f"Make {about}", key=f"{key}.make", width="stretch"):
        _download(_with_bar(pieces(), size), name, key=f"{key}.made")


def _download(data: bytes, name: str, *, key: str) -> None:
    kind = name.rpartition(".")[2]
    st.download_button(
        f"Download {kind}, {said_bytes(len(data))}",
        data,
        name,
        _MIME.get(kind, "application/octet-stream"),
        on_click="ignore",
        key=key,
        width="stretch",
        type="primary",
    )


def _with_bar(pieces: Iterator[bytes | float], size: int) -> bytes:
    bar = st.progress(0.0, "Computing …")
    data = _whole(pieces, size, bar.progress)
    bar.empty()
    return data


def _whole(
    pieces: Iterator[bytes | float], size: int = 0, tell: Callable[[float], object] | None = None
) -> bytes:
    """The pieces joined; a number among them is the share of the work done."""
    data = bytearray()
    for piece in pieces:
        if isinstance(piece, bytes):
            data += piece
        if tell is not None:
            share = piece if isinstance(piece, float) else len(data) / size
            tell(min(share, 1.0))
    return bytes(data)
