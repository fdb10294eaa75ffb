"""Where the colours of a table's picture end, and what lies beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pages._ui.figures.axes import ends_of_bar, nice_ceiling
from pages._ui.numbers import written


@dataclass(frozen=True)
class Ends:
    """Colours from -``peak`` (0 for an ``unsigned`` one) to ``peak``, and the cells beyond them.

    ``below`` and ``above`` count these, ``farthest`` is the greatest magnitude of all ``cells``.
    """

    peak: float
    unsigned: bool
    below: int
    above: int
    cells: int
    farthest: float

    def patch(self, axis: str) -> dict[str, Any]:
        """What sets a colour axis and its bar, whose ends say ≤ and ≥ where cells lie beyond."""
        beyond = (self.below > 0, self.above > 0)
        return ends_of_bar(axis, 0.0 if self.unsigned else -self.peak, self.peak, beyond)

    @property
    def sentence(self) -> str:
        """Where the colours end, and what lies beyond."""
        end = f"Colours end at {'' if self.unsigned else '±'}{written(self.peak)}"
        count = self.below + self.above
        if not count:
            return f"{end}, and no cell lies beyond."
        lie = "lies" if count == 1 else "lie"
        farthest = written(self.farthest, ".3g")
        return f"{end}; {count:,} of {self.cells:,} cells {lie} beyond, the farthest at {farthest}."


def ends_of(
    pictures: Sequence[Float[np.ndarray, "rows columns"]],
    peak: float,
    *,
    unsigned: bool = False,
) -> Ends:
    """The ends of the colours of these pictures at a round number from ``peak`` on."""
    end = nice_ceiling(peak)
    magnitude = [np.abs(cells).max(initial=0.0) for cells in pictures]
    return Ends(
        end,
        unsigned,
        sum(int((cells < -end).sum()) for cells in pictures),
        sum(int((cells > end).sum()) for cells in pictures),
        sum(cells.size for cells in pictures),
        float(max(magnitude, default=0.0)),
    )
