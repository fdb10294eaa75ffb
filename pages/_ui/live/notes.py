"""What is written under a live chart and follows its frames: sentences and tables.

Texts may have Streamlit's ``:colour[words]``, ``**bold**`` and `` `code` ``; all else is text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Line:
    """A sentence. kind: what it is, for its looks and to be pointed at."""

    text: str
    kind: Literal["aside", "arithmetic"] = "aside"


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell heads its row. numbers: columns whose cells stand at the right.

    label: what the table is, for readers who cannot see it.
    """

    label: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    kind: Literal["table"] = "table"


Note = Line | Table
