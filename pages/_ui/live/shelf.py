"""Packed arrays and figures wait here until the browser fetches them, by the hash of their content.

A frame only names what it shows. What the browser already has is not asked for again, and Streamlit
neither hashes nor sends it with every run.
"""

from __future__ import annotations

from threading import Lock

from cachetools import LRUCache

_DEFAULT_BYTES = 128 * 2**20


class Shelf:
    """Byte strings by id, at most `limit` bytes of them; those unused for longest leave first.

    The newest one stays, however large it is: else a browser could never fetch it.
    """

    def __init__(self, limit: int) -> None:
        self._lock = Lock()
        self._items: LRUCache[str, bytes] = self._empty(limit)

    @property
    def limit(self) -> int:
        """Bytes that may wait."""
        return int(self._items.maxsize)

    @limit.setter
    def limit(self, limit: int) -> None:
        with self._lock:
            old, self._items = self._items, self._empty(limit)
            for key, data in old.items():
                self._items[key] = data

    @property
    def size(self) -> int:
        """Bytes that wait now."""
        with self._lock:
            return sum(map(len, self._items.values()))

    def put(self, key: str, data: bytes) -> None:
        """Keep ``data``, or mark it as used."""
        with self._lock:
            self._items[key] = data

    def get(self, key: str) -> bytes | None:
        """The bytes under ``key``, if they are still here."""
        with self._lock:
            return self._items.get(key)

    @staticmethod
    def _empty(limit: int) -> LRUCache[str, bytes]:
        # What is larger than all the room counts as all of it, and so lies there alone.
        return LRUCache(limit, getsizeof=lambda data: min(len(data), limit))


# The largest film of a training needs 98 MB, 60 visitors' largest pictures at once 45.
shelf = Shelf(_DEFAULT_BYTES)
