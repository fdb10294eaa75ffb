"""Whether a drawing that a browser sent is one, and nothing but one; read in a process apart."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}svg"
# A drawing may neither run nor load anything.
_FOREIGN = frozenset({"script", "foreignObject", "iframe", "style"})
# Possessive: spaces are passed once, not once for each of them.
_ELSEWHERE = re.compile(r"""url\(\s*+["']?+(?!#|data:image/)""", re.IGNORECASE)
_OWN = ("#", "data:image/")


def is_svg(data: bytes) -> tuple[bool, bytes]:
    """Whether UTF-8 text is an SVG that neither runs nor loads anything, and no numbers."""
    if b"<!" in data or b"<?" in data:  # no entities, no instructions
        return False, b""
    try:
        root = ET.fromstring(data)  # noqa: S314, see above
    except (ET.ParseError, UnicodeError):
        return False, b""
    return root.tag == _SVG and all(map(_is_harmless, root.iter())), b""


def _is_harmless(element: ET.Element) -> bool:
    """Whether the element, without its children, is nothing but a drawing."""
    for name, value in element.items():
        local = name.rpartition("}")[2].lower()
        if local.startswith("on") or (local == "href" and not value.startswith(_OWN)):
            return False
        if _ELSEWHERE.search(value):
            return False
    return element.tag.rpartition("}")[2] not in _FOREIGN
