"""What the landing page's pictures depend on: the source of the tokens, sizes, the encoding."""

from __future__ import annotations

from dataclasses import dataclass

from posembed_core import Encoding
from posembed_core.operations import Operation


@dataclass(frozen=True)
class RandomTokens:
    """Normally distributed token vectors drawn with a seed."""

    seed: int = 123
    std: float = 0.5
    skip: int = 0


@dataclass(frozen=True)
class SentenceTokens:
    """The token vectors of a sentence in the installed model."""

    text: str


Source = RandomTokens | SentenceTokens


@dataclass(frozen=True)
class Setting:
    """All that the landing page's pictures depend on, except the scale."""

    source: Source
    length: int
    dimension: int
    encoding: Encoding
    operation: Operation = "add"
    layer_norm: bool = False
    sqrt_dim: bool = False
    head: int = 0
    window: tuple[float | None, float | None, float | None, float | None] = (None,) * 4
