"""What a server holds over time, and how much of it is in its bounded caches."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from dataclasses import dataclass

from benchmarks.report import Section
from benchmarks.servers import Server
from benchmarks.timing import percentile

EVERY = 2.0  # seconds, while it is watched
PARTS = 5  # into which the watched time is divided


@dataclass(frozen=True)
class Held:
    """Bytes of the process, and those that its caches say they hold."""

    resident: int
    cached: int


def held(server: Server) -> Held:
    """What the server holds right now."""
    address = f"http://127.0.0.1:{server.port}/_stcore/metrics"
    with urllib.request.urlopen(address, timeout=60) as answer:
        text = answer.read().decode()
    sizes = re.findall(r"^posembed_cache_bytes\{.*\} (\S+)$", text, re.MULTILINE)
    return Held(server.resident(), sum(int(float(size)) for size in sizes))


async def watch(server: Server, seen: list[Held]) -> None:
    """Sample the memory again and again, until cancelled."""
    while True:
        seen.append(await asyncio.to_thread(held, server))
        await asyncio.sleep(EVERY)


def report(section: Section, server: Server, seen: list[Held], when: str) -> None:
    """Memory over time, and whether the last part held more than any before: a leak only rises.

    when: when it was sampled; it follows the word "memory" in the table.
    """
    size = max(1, len(seen) // PARTS)
    parts = [seen[start : start + size] for start in range(0, size * PARTS, size)]
    whole = [percentile([look.resident for look in part], 0.5) for part in parts if part]
    levels = " → ".join(f"{bytes_ / 1e6:.0f}" for bytes_ in whole)
    grown = whole[-1] / max(whole[:-1]) - 1 if len(whole) > 1 else float("inf")
    section.add(
        f"memory {when}",
        f"{levels} MB ({grown:+.1%} against the most before), peak "
        f"{server.resident_peak() / 1e9:.2f} GB, in the caches at the end "
        f"{seen[-1].cached / 1e6:.0f} MB",
        "flat in the end (≤ +2 %)",
        met=grown <= 0.02,
        why="it may not have come to its level yet; a longer run would tell",
    )
