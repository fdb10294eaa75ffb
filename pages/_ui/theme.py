"""How everything looks: the three hues of token, position and combined, and the colour scales.

A colour written as ``var(--st-…)`` is filled in by the browser from the theme in use, so the same
figure fits the light and the dark page.
"""

from __future__ import annotations

from typing import Any

# Three hues that colour-blind readers can tell apart, by the names that Streamlit's Markdown knows.
HUES = {"token": "blue", "position": "orange", "combined": "green"}
DASHES = {"token": "solid", "position": "dot", "combined": "dash"}
MUTED = "var(--st-border-color)"

# Zero-centred, blue below and red above: ColorBrewer's RdBu, safe for colour-blind readers.
DIVERGING = "RdBu_r"


def hue(term: str) -> str:
    """The colour of ``"token"``, ``"position"`` or ``"combined"`` in a figure."""
    return f"var(--st-{HUES[term]}-color)"


def text_hue(term: str) -> str:
    """The same colour for words in a figure."""
    return f"var(--st-{HUES[term]}-text-color)"


def tinted(term: str, words: str) -> str:
    """``words`` in Markdown, in the term's colour."""
    return f":{HUES[term]}[{words}]"


def base_layout(**more: Any) -> dict[str, Any]:
    """What every figure's layout has in common."""
    return {
        "template": "none",
        "font": {"size": 14},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": "zoom",
        **more,
    }
