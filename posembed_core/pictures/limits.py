"""Where a picture's colours and norms end, whatever the scale: they stand still while it moves."""

from __future__ import annotations

from dataclasses import dataclass

from posembed_core.pictures.frame import Cells, Frame

# The greatest scale at which the axis of the norms still is as it is at scale 0.
STILL_TO = 2.0


@dataclass(frozen=True)
class Limits:
    """Ends that don't depend on the scale shown.

    ``peak`` is the greatest value of e and of p at scale 1, for the colours that vectors share (see
    `frame.peak_of` for outliers). ``own_peak`` is that of a middle picture whose numbers are of
    another kind, at scale 1. ``highest`` is the greatest norm that scales from 0 to 2 reach.
    """

    peak: float
    own_peak: float
    highest: float


@dataclass(frozen=True)
class Beyond:
    """How many of ``cells`` lie below and above where their colours end, and the farthest one.

    ``farthest`` has its sign, and ``picture`` says where it is; 0 and "" where none lies beyond.
    """

    cells: int = 0
    below: int = 0
    above: int = 0
    farthest: float = 0.0
    picture: str = ""

    @property
    def count(self) -> int:
        """Cells on either side."""
        return self.below + self.above


def beyond(frame: Frame, pictures: tuple[str, ...], end: float) -> Beyond:
    """What of some pictures lies beyond ±``end``.

    >>> import torch
    >>> from posembed_core.operations import Norms
    >>> cells, none = torch.tensor([[1.0, -3.0]]), torch.zeros(1)
    >>> frame = Frame({"e": cells}, {"token": {"e": 1.0}}, Norms(none, none, none), 3.0)
    >>> beyond(frame, ("token",), 2.0)
    Beyond(cells=2, below=1, above=0, farthest=-3.0, picture='token')
    """
    cells = below = above = 0
    farthest, place = 0.0, ""
    for picture in pictures:
        values = frame.cells(picture)
        cells += values.numel()
        least, greatest = map(float, values.aminmax())
        # float32 rounds an end such as 0.3.
        edge = end * (1 + 1e-6)
        if -least <= edge and greatest <= edge:
            continue
        below += int((values < -edge).sum())
        above += int((values > edge).sum())
        outer = greatest if greatest >= -least else least
        if abs(outer) > abs(farthest):
            farthest, place = outer, picture
    return Beyond(cells, below, above, farthest, place)


def magnitude(cells: Cells) -> float:
    """The greatest absolute value.

    >>> import torch
    >>> magnitude(torch.tensor([[1.0, -3.0]]))
    3.0
    """
    return float(cells.abs().max())
