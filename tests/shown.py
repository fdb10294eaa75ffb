"""Every text that a page shows, from a session without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from pages._ui.live.shelf import shelf

# Fields of Streamlit's messages, and keys of the components' and figures', that nobody reads.
UNREAD = {
    "alt_src", "anchor", "arrows", "buffers", "charts", "className", "colorscale", "component_name",
    "css_content", "css_source_path", "dash", "data_id", "default_style", "element_id", "figure",
    "file", "form_id", "format", "hovertemplate", "href", "html_content", "icon", "id",
    "js_content", "js_source_path", "key", "keys", "language", "link", "lines", "markers", "mixes",
    "needs", "page", "page_script_hash", "parts", "plotly", "point", "query_string", "raw",
    "style", "symbol", "to_id", "url", "url_pathname", "user_key", "widget_id",
}  # fmt: skip
TYPED = frozenset({"default", "value"})  # somebody's own words
# Read as it was typed: code, addresses and markup; and formulas, which have signs of their own.
QUOTED = re.compile(r"`[^`]*`|\$[^$]*\$|https?://\S+|<style>.*?</style>|<[^>]+>", re.DOTALL)


def texts(app: AppTest) -> Iterator[str]:
    """Texts in the order of the page; formulas and Markdown as they are written."""
    for node in app:
        proto = getattr(node, "proto", None)
        if node.type in {"code", "logo", "navigation"} or not isinstance(proto, Message):
            continue
        if node.type == "bidi_component":
            yield from _of_component(proto)
        else:
            yield from _of_message(proto, TYPED if node.type.startswith("text_") else frozenset())


def prose(text: str) -> str:
    """A text without what is quoted in it."""
    return QUOTED.sub(" ", text)


def _of_message(message: Message, typed: frozenset[str] = frozenset()) -> Iterator[str]:
    for field, value in message.ListFields():
        if field.name in UNREAD | typed:
            continue
        values = value if field.is_repeated else [value]
        for item in values:
            if isinstance(item, str):
                yield item
            elif isinstance(item, Message) and not field.message_type.GetOptions().map_entry:
                yield from _of_message(item)


def _of_component(proto: Any) -> Iterator[str]:
    if proto.json:
        yield from _of_data(json.loads(proto.json))
    if proto.bytes:
        header = _header(proto.bytes)
        yield from _of_data(header)
        if packed := shelf.get(header.get("figure", "")):
            body = packed[4 + int.from_bytes(packed[:4], "little") :]
            yield from _of_data(json.loads(body.strip(b"\0 ")))


def _header(data: bytes) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return header


def _of_data(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            if key not in UNREAD:
                yield from _of_data(value)
    elif isinstance(data, list):
        for value in data:
            yield from _of_data(value)
