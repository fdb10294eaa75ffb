"""What each encoding's numbers are checked against, for the tests and the about boxes.

A page shows what `evidence_for` gives; the tests run every entry and fail if one does not hold
or has no test. So a box can't claim what isn't tested.
"""

from __future__ import annotations

from posembed_core.evidence.checks import Check, Golden, Law, Parity
from posembed_core.evidence.golden import GOLDEN
from posembed_core.evidence.laws import LAWS
from posembed_core.evidence.parity import PARITY

ALL: tuple[Check, ...] = (*GOLDEN, *PARITY, *LAWS)

__all__ = ["ALL", "GOLDEN", "LAWS", "PARITY", "Check", "Golden", "Law", "Parity", "evidence_for"]


def evidence_for(slug: str) -> tuple[Check, ...]:
    """What the encoding called ``slug`` is checked against: numbers, implementations, laws.

    >>> [check.id for check in evidence_for("none")]
    ['conformance', 'batch-independent', 'no-position-at-zero', 'permutation']
    """
    return tuple(check for check in ALL if slug in check.slugs)
