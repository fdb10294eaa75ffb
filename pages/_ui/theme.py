"""How everything looks: the three hues of token, position and combined, and the colour scales.

A colour written as ``var(--st-…)`` is filled in by the browser from the theme in use, one written
as ``var(--either-…)`` is the light theme's or the dark one's: the same figure fits both pages.
"""

from __future__ import annotations

from typing import Any

# Three hues that colour-blind readers can tell apart, by the names that Streamlit's Markdown knows.
HUES = {"token": "blue", "position": "orange", "combined": "green"}
DASHES = {"token": "solid", "position": "dot", "combined": "dash"}
MUTED = "var(--st-border-color)"

# Zero-centred, blue below and red above, safe for colour-blind readers: on a light ground zero is
# pale (ColorBrewer's RdBu), on a dark one dark, and what is greater stands out more on either.
_LIGHT = ("053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7",
          "fddbc7", "f4a582", "d6604d", "b2182b", "67001f")  # fmt: skip
_DARK = ("a6d8ff", "6db5ee", "3b8fd6", "2765a3", "1f3d5e", "1a2028",
         "522022", "93302c", "d04a3a", "f27d5b", "ffb48f")  # fmt: skip


def either(light: str, dark: str) -> str:
    """A colour that is one thing in the light theme and another in the dark one, as in 1a2b3c."""
    return f"var(--either-{light}-{dark})"


def shade(at: float) -> str:
    """The colour at 0 … 1 of the diverging scale; 0.5 is that of the value 0.

    >>> shade(0.5)
    'var(--either-f7f7f7-1a2028)'
    """
    index = min(int(at * (len(_LIGHT) - 1)), len(_LIGHT) - 2)
    share = at * (len(_LIGHT) - 1) - index
    light, dark = (_between(ends[index], ends[index + 1], share) for ends in (_LIGHT, _DARK))
    return either(light, dark)


def _between(start: str, end: str, share: float) -> str:
    pairs = zip(bytes.fromhex(start), bytes.fromhex(end), strict=True)
    return bytes(round(a + share * (b - a)) for a, b in pairs).hex()


Scale = tuple[tuple[float, str], ...]
DIVERGING: Scale = tuple((index / 10, shade(index / 10)) for index in range(11))
# For what is never below 0, the half above it: red is "more" everywhere.
SEQUENTIAL: Scale = tuple((index / 5, shade(0.5 + index / 10)) for index in range(6))


def hue(term: str) -> str:
    """The colour of ``"token"``, ``"position"`` or ``"combined"`` in a figure."""
    return f"var(--st-{HUES[term]}-color)"


def text_hue(term: str) -> str:
    """The same colour for words in a figure."""
    return f"var(--st-{HUES[term]}-text-color)"


def tinted(term: str, words: str) -> str:
    """``words`` in Markdown, in the term's colour."""
    return f":{HUES[term]}[{words}]"


def base_layout(*, least: int | None = None, **more: Any) -> dict[str, Any]:
    """What every figure's layout has in common.

    A figure with a ``least`` height in pixels is as tall as the window has room for, from there on
    (room.js); one without keeps its own height.
    """
    fills = {} if least is None else {"meta": {"least": least}}
    return {
        **fills,
        "template": "none",
        "font": {"size": 14},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "zoom",
        **more,
    }
