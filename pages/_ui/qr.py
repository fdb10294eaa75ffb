"""The link of the current view as a QR code, large enough for the last row."""

from __future__ import annotations

import io
from urllib.parse import urlencode, urlsplit, urlunsplit

import segno
import streamlit as st


@st.dialog("Link of this view", width="large")
def show_code() -> None:
    """The code, and the link itself to copy."""
    link = address()
    try:
        code = st.container(key="code", horizontal_alignment="center")
        code.image(svg_of(link), width="content", alt=f"QR code of {link}")
    except segno.DataOverflowError:
        st.info(f"This link has {len(link):,} characters, more than a QR code holds: copy it.")
    st.code(link, language=None, wrap_lines=True)


def address() -> str:
    """What stands in the browser's address bar, without ``embed``."""
    query = urlencode(st.query_params.to_dict())
    parts = urlsplit(st.context.url or "")
    return urlunsplit(parts._replace(path=parts.path or "/", query=query))


def svg_of(link: str) -> str:
    """The code as an SVG text: dark on white with a quiet zone, in either theme.

    Raises `segno.DataOverflowError` for a link that is too long.
    """
    out = io.BytesIO()
    # The fewest modules, so that each is large; a screen needs no more correction than that.
    code = segno.make_qr(link, error="l", boost_error=False)
    code.save(out, kind="svg", xmldecl=False, scale=10, border=4, dark="#000", light="#fff")
    return out.getvalue().decode("utf-8")
