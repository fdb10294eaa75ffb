"""Whether an encoding works beyond the trained length, judged from its own fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from posembed_core.base import AdditiveEncoding, Encoding, RotaryEncoding

FAR = 32_768  # tokens: longer than any trained length that an encoding has by default


@dataclass(frozen=True)
class Beyond:
    """The answer and its reason: ``no`` has no value there; ``defined`` has one, never trained."""

    answer: Literal["yes", "defined", "no"]
    reason: str


def beyond(encoding: Encoding) -> Beyond:
    """What happens at positions that training never saw.

    A table ends (`position_count`); a class may say why they do no harm (``beyond``); a scaled RoPE
    stretches its wavelengths (`stretch`). All others merely have a value there.

    >>> import posembed_core as pc
    >>> beyond(pc.create("learned", max_seq_len=512)).reason
    'the table has 512 rows: position 512 has no vector'
    >>> beyond(pc.create("rope")).answer
    'defined'
    """
    if isinstance(encoding, AdditiveEncoding) and encoding.position_count is not None:
        count = encoding.position_count
        return Beyond("no", f"the table has {count:,} rows: position {count:,} has no vector")
    if type(encoding).beyond:
        return Beyond("yes", type(encoding).beyond)
    if isinstance(encoding, RotaryEncoding):
        stretch = encoding.stretch(FAR)
        if stretch > 1:
            stretched = f"at {FAR:,} tokens wavelengths are stretched up to {stretch:g} times"
            return Beyond("yes", f"{stretched}, towards angles seen in training")
        return Beyond("defined", "slow pairs reach angles that training never showed")
    if isinstance(encoding, AdditiveEncoding):
        return Beyond("defined", "a formula gives every position a vector, but untrained ones")
    return Beyond("defined", "every distance has a vector, but untrained ones")
