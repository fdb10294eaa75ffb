"""Packed arrays and figures wait here until the browser fetches them, by the hash of their content.

A frame only names what it shows; what the browser already has is not asked for again, nor hashed or
sent by Streamlit with every run.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from pages._ui.bounds import share


class Shelf:
    """Byte strings by id, at most `limit` bytes of them; those unused for longest leave first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._lock = Lock()
        self._items: OrderedDict[str, bytes] = OrderedDict()

    def put(self, key: str, data: bytes) -> None:
        """Keep `data`, or mark it as used. The newest item stays, however large it is."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return
            self._items[key] = data
            self.size += len(data)
            while self.size > self.limit and len(self._items) > 1:
                _, old = self._items.popitem(last=False)
                self.size -= len(old)

    def get(self, key: str) -> bytes | None:
        """The bytes under `key`, if they are still here."""
        with self._lock:
            return self._items.get(key)


# The largest film of a training needs 98 MB, 60 visitors' largest pictures at once 45.
shelf = Shelf(share("shelf"))
