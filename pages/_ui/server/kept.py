"""Results of whichever view, kept in one store; matrices, pictures and films have their own."""

from __future__ import annotations

from typing import Any

from pages._ui.server.store import Store

RESULTS: Store[Any] = Store("results")
kept = RESULTS.keep
