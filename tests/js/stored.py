"""The packets that the tests of both languages read.

``python -m tests.js.stored`` writes them anew, from the repository's root.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from pages._ui.live.packets import FrameHeader, pack_array, packet

FOLDER = Path(__file__).parent / "packets"
LINE = np.array([0.5, math.nan, -2.0], dtype="<f4")
FRAME: FrameHeader = {
    "plotly": "/assets/plotly.min.js?v=1",
    "parts": "/assets/live/parts/",
    "figure": "f1",
    "needs": {"e": "a1", "p": "a2"},
    "mixes": {"h": [("e", 1.0), ("p", 0.7), ("", -2.0)]},
    "patch": {"annotations[0].text": "s·p", "coloraxis.cmax": 3.5},
    "height": None,
    "alt": "Heatmaps, “é”",
    "snapshots": ["step 0"],
    "grow": ["norm"],
    "notes": [
        {"text": "**h** = :blue[e]", "kind": "arithmetic"},
        {"label": "Norms", "heads": ["i"], "rows": [["0"]], "numbers": (0,), "kind": "table"},
    ],
    "lens": None,
    "zoom": {"xaxis": (1.0, 2.5)},
    "lines": ["norm"],
    "buffers": [("f4", 3)],
}
# Two frames of 2 × 3 cells, one of them without a value.
ARRAY = np.array([[[0.0, 1.0, -1.0], [0.25, math.nan, 0.5]], [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]])


def packets() -> dict[str, bytes]:
    """Their bytes, by the names of their files."""
    return {
        "frame.packet": packet(FRAME, [LINE.tobytes()]),
        "array.packet": pack_array(ARRAY, exact=False).data,
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in packets().items():
        (FOLDER / name).write_bytes(data)
