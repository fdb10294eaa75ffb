"""How much memory the caches that all visitors share may take, which an operator may lower."""

from __future__ import annotations

import os

VARIABLE = "POSEMBED_CACHE_MB"
DEFAULT_MB = 1536
LEAST_MB = 96
_SHARES = {"matrices": 6, "pictures": 1, "results": 1, "trainings": 2, "films": 1, "shelf": 1}


def cache_megabytes() -> int:
    """What all caches together may hold: what ``POSEMBED_CACHE_MB`` says, else 1536.

    Raises `SystemExit` with one sentence where that is not such a number, so that whoever starts
    the server learns of it, and not a visitor later.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return DEFAULT_MB
    if not given.isascii() or not given.isdigit() or int(given) < LEAST_MB:
        raise SystemExit(
            f"{VARIABLE} must be a whole number of megabytes from {LEAST_MB} on, got {given!r}; "
            f"leave it out for {DEFAULT_MB}"
        )
    return int(given)


def share(cache: str) -> int:
    """The bytes that one of the caches may hold; `_SHARES` has their names.

    Half of the total goes to matrices. A result larger than its cache is computed anew each time
    and works all the same. The memory that a computation needs while it runs is not counted.
    """
    return cache_megabytes() * 2**20 * _SHARES[cache] // sum(_SHARES.values())
