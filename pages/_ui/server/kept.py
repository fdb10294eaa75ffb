"""One store for results of all views; matrices, pictures and films have stores of their own."""

from __future__ import annotations

from typing import Any

from pages._ui.server.store import Store

RESULTS: Store[Any] = Store("results")
kept = RESULTS.keep
