"""Numbers as they are read: with a true minus sign, as one writes them in a formula."""

from __future__ import annotations

import re
from typing import SupportsFloat

MINUS = "\N{MINUS SIGN}"
# A hyphen before a digit, unless it joins words (gpt-2) or follows a link's name=, and between
# spaces.
_HYPHEN = re.compile(r"(?<![\w=)\]-])-(?=\.?\d|inf\b)|(?<=\de)-(?=\d)|(?<= )-(?= )")


def written(value: SupportsFloat, pattern: str = "g") -> str:
    """A number by a pattern of `format`, with a true minus sign.

    >>> written(-0.25), written(1.5e-7, ".1e")
    ('−0.25', '1.5e−07')
    """
    return format(float(value), pattern).replace("-", MINUS)


def signed(value: float, pattern: str = "g") -> str:
    """A term of a sum, with its sign.

    >>> signed(-0.25), signed(0.25)
    ('− 0.25', '+ 0.25')
    """
    return f"{MINUS if value < 0 else '+'} {written(abs(value), pattern)}"


def bracketed(value: float, pattern: str = "g") -> str:
    """A number that follows a sign: in brackets where it is negative.

    >>> bracketed(-0.25), bracketed(0.25)
    ('(−0.25)', '0.25')
    """
    return f"({written(value, pattern)})" if value < 0 else written(value, pattern)


def with_minus_signs(sentence: str) -> str:
    """A sentence of others, as an error's, with true minus signs before its numbers.

    >>> with_minus_signs("length must be 1 or more, got -5 (as gpt-2 with length=-5)")
    'length must be 1 or more, got −5 (as gpt-2 with length=-5)'
    """
    return _HYPHEN.sub(MINUS, sentence)
