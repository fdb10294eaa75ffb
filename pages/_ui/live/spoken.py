"""Words for a screen reader: what is written for the eye, without its marks."""

from __future__ import annotations

import re

_TINTED = re.compile(r":\w+(?:-\w+)*\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_COMMAND = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\b")
_SYMBOLS = {
    r"\cdot": "·", r"\times": "×", r"\sqrt": "√", r"\omega": "ω", r"\theta": "θ", r"\sigma": "σ",
    r"\ldots": "…", r"\le": "≤", r"\ge": "≥", r"\|": "‖",
}  # fmt: skip


def spoken(text: str) -> str:
    """The words of Streamlit's Markdown, with its formulas as far as they can be read out.

    >>> spoken(":small[**h** is `e` + p]")
    'h is e + p'
    """
    while (plain := _TINTED.sub(r"\1", text)) != text:
        text = plain
    text = _LINK.sub(r"\1", text)
    for symbol, sign in _SYMBOLS.items():
        text = re.sub(re.escape(symbol) + r"(?![a-zA-Z])", sign, text)
    text = _COMMAND.sub("", text)
    return re.sub(r"[$`{}\\]|\*+", "", text)
