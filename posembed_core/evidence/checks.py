"""Three kinds of evidence: known numbers, independent implementations, laws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from posembed_core.registry import create


@dataclass(frozen=True, kw_only=True)
class Check:
    """A claim about the encodings in ``slugs``, stated in one line."""

    id: str
    slugs: tuple[str, ...]
    what: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Golden(Check):
    """Known numbers: entry ``pick`` of what ``create(slug, **fields).call(*arguments)`` gives.

    ``call`` is a method or a property. Positions are lists, vectors are tuples. The expected
    numbers are as the source gives them, so ``tolerance`` is half a unit of their last digit or
    more. ``fault`` names the reported case in which users got a wrong number.

    >>> row = Golden(
    ...     id="row",
    ...     slugs=("sinusoidal",),
    ...     what="The first dimension of position 1 is sin 1",
    ...     source="Vaswani et al. 2017, section 3.5",
    ...     call="table",
    ...     arguments=([1],),
    ...     pick=(0, 0),
    ...     expected=0.8415,
    ...     tolerance=6e-5,
    ... )
    >>> row.holds()
    True
    """

    call: str
    expected: Any
    tolerance: float
    fields: dict[str, Any] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()
    pick: tuple[Any, ...] = ()
    fault: str = ""

    def computed(self) -> Tensor:
        """What the core gives now, float64, in the shape of ``expected``."""
        value = getattr(create(self.slugs[0], **self.fields), self.call)
        if callable(value):
            value = value(*(_argument(item) for item in self.arguments))
        return torch.as_tensor(value, dtype=torch.float64)[self.pick]

    def holds(self) -> bool:
        """Whether the computed numbers are the expected ones, within the tolerance."""
        expected = torch.tensor(self.expected, dtype=torch.float64)
        computed = self.computed()
        agrees = computed.shape == expected.shape and (computed - expected).abs() <= self.tolerance
        return bool(torch.as_tensor(agrees).all())


@dataclass(frozen=True, kw_only=True)
class Parity(Check):
    """Agreement with an independent implementation: package, version, and what in it.

    >>> from posembed_core.evidence import PARITY
    >>> PARITY[0].implementation
    'positional-encodings 6.0.3, PositionalEncoding1D'
    """

    package: str
    version: str
    tolerance: float

    @property
    def implementation(self) -> str:
        """``package version, source``, for a page."""
        return f"{self.package} {self.version}, {self.source}"


@dataclass(frozen=True, kw_only=True)
class Law(Check):
    """A property that holds for every legal setting, tested on randomly drawn settings."""


def _argument(value: Any) -> Any:
    return torch.tensor(value, dtype=torch.float64) if isinstance(value, tuple) else value
