"""What an encoding does to scores besides what its picture shows: xPos fades."""

from __future__ import annotations

from pages._ui.numbers import written
from posembed_core import Encoding, RotaryEncoding


def fading(encoding: Encoding, length: int, scale: float = 1.0) -> str:
    """What an encoding does to scores besides the rotation that its picture shows; else empty."""
    if not isinstance(encoding, RotaryEncoding) or not encoding.acts_on_scores or length < 2:
        return ""
    near, far = (encoding.score_factors(back, scale) for back in (1, length - 1))
    between = [
        f"{written(factors[0], '.3g')} to {written(factors[-1], '.3g')}" for factors in (near, far)
    ]
    return (
        f"{encoding.title} turns as RoPE does, and the picture shows that alone; besides, each "
        "pair's share of a score is multiplied by a power of its ζ that grows with the distance "
        "from key to query, from the fastest pair to the slowest: by "
        f"{between[0]} for a key one token back, by {between[1]} for one {length - 1:,} back."
    )
