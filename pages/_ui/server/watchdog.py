"""A server that hangs says where, and ends: its supervisor starts another one.

What holds Python's lock, or the event loop, holds up whoever would notice in Python. The timer is
one of `faulthandler`'s, a thread of C that needs no lock.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
from collections.abc import Mapping

PATIENCE_SECONDS = 30.0


def patience_of(environment: Mapping[str, str] = os.environ) -> float:
    """Seconds in which the event loop must have come round, 0 for ever.

    ``POSEMBED_HANG_SECONDS`` says how many. Raises `ValueError` unless it is a number from 0 on.
    """
    text = environment.get("POSEMBED_HANG_SECONDS", "").strip() or f"{PATIENCE_SECONDS:g}"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 86_400:
        raise ValueError(
            "POSEMBED_HANG_SECONDS must be a number of seconds, or 0 to let a server that hangs "
            f"hang; got {text!r}"
        )
    return seconds


async def keep_watch(patience: float) -> None:
    """End this process, all its stacks written to stderr, once the event loop stands still.

    It is given ``patience`` seconds; 0 keeps no watch. Runs until it is cancelled.
    """
    if not patience:
        return
    try:
        while True:
            faulthandler.dump_traceback_later(patience, exit=True)
            await asyncio.sleep(patience / 10)
    finally:
        faulthandler.cancel_dump_traceback_later()
