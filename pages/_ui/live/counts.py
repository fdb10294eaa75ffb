"""How much the components have sent since the server started, for whoever watches it."""

from __future__ import annotations

from threading import Lock


class Counter:
    """Frames and their bytes, counted from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._frames = 0
        self._bytes = 0

    def add(self, size: int) -> None:
        """One more frame, of `size` bytes."""
        with self._lock:
            self._frames += 1
            self._bytes += size

    @property
    def total(self) -> tuple[int, int]:
        """How many frames, and how many bytes they had together."""
        with self._lock:
            return self._frames, self._bytes


sent = Counter()
