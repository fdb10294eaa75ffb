"""Pictures drawn by a browser, checked before they become files: it may send anything."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pages._ui.server.apart import APART, RefusedError
from pages._ui.server.drawn import is_svg

KINDS = ("png", "svg")
MAX_DRAWINGS = 12_000_000  # bytes of all drawings of a view together

_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


@dataclass(frozen=True)
class Drawing:
    """A chart as it was on the screen: ``name`` is the chart's, ``kind`` one of `KINDS`."""

    name: str
    kind: str
    data: bytes


def read_drawings(sent: object, names: Collection[str]) -> tuple[Drawing, ...]:
    """The drawings of the charts ``names`` in a browser's message, if they are valid.

    The message is ``{name: {"png": base64, "svg": text}}``. Drawings that would make more than
    `MAX_DRAWINGS` together are left out, the last ones first.
    """
    drawings: list[Drawing] = []
    room = MAX_DRAWINGS
    for name in names:
        of_chart = sent.get(name) if isinstance(sent, Mapping) else None
        for kind in KINDS:
            text = of_chart.get(kind) if isinstance(of_chart, Mapping) else None
            if not isinstance(text, str) or len(text) > 2 * room:
                continue
            data = _png(text) if kind == "png" else _svg(text)
            if data is not None and len(data) <= room:
                room -= len(data)
                drawings.append(Drawing(name, kind, data))
    return tuple(drawings)


def _png(text: str) -> bytes | None:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if data.startswith(_PNG) and data.endswith(_PNG_END) else None


def _svg(text: str) -> bytes | None:
    if "<svg" not in text:
        return None
    try:
        data = text.encode()
        is_drawing, _ = APART.read(is_svg, data)
    except (UnicodeEncodeError, RefusedError):
        return None
    return data if is_drawing else None
