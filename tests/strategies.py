"""Hypothesis strategies that know nothing about any encoding: legal settings and positions."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from hypothesis import assume
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.parameters import Choice, Flag, Integer, Parameter, Real

FAR = 10**7


def values(parameter: Parameter, default: Any) -> st.SearchStrategy[Any]:
    """Legal values of one field: its default, its bounds, and values between them.

    Whole numbers other than seeds stay near the lower bound or at the default: a large table is
    slow, not different.
    """
    if isinstance(parameter, Choice):
        return st.sampled_from(parameter.options)
    if isinstance(parameter, Flag):
        return st.booleans()
    if isinstance(parameter, Integer):
        low, high = int(parameter.low), int(parameter.high)
        most = high if high >= 2**32 - 1 else min(high, low + 40)
        return st.sampled_from([low, most, default]) | st.integers(low, most)
    if isinstance(parameter, Real):
        inside = st.floats(parameter.low, parameter.high)
        ends = st.sampled_from([parameter.low, parameter.high, default])
        return ends | inside | st.none() if parameter.optional else ends | inside
    return st.just(default)  # lists have one entry for each pair or head: only the empty one fits


def fields(cls: type[pc.Encoding]) -> st.SearchStrategy[dict[str, Any]]:
    """Values for all fields of a class, each legal by itself."""
    defaults = {item.name: item.default for item in dataclasses.fields(cls)}
    return st.fixed_dictionaries(
        {name: values(item, defaults[name]) for name, item in cls.parameters().items()}
    )


def legal(data: st.DataObject, cls: type[pc.Encoding], **fixed: Any) -> pc.Encoding:
    """An encoding of this class with any legal settings; ``fixed`` ones stay.

    Where fields don't fit together, the error's nearest legal value is taken, as on a page. Not a
    strategy itself: beartype checks entries of a list at random, which hypothesis forbids.
    """
    defaults = {item.name: item.default for item in dataclasses.fields(cls)}
    chosen = data.draw(fields(cls)) | fixed
    for _ in range(8):
        try:
            return cls(**chosen)
        except pc.EncodingError as error:
            assume(error.field in chosen and error.field not in fixed)
            nearest = defaults[error.field] if error.nearest is None else error.nearest
            assume(chosen[error.field] != nearest)
            chosen[error.field] = nearest
    assume(False)
    raise AssertionError


@st.composite
def positions(draw: st.DrawFn, encoding: pc.Encoding, *, most: int = 6) -> list[int]:
    """A few rising positions that the encoding knows, near 0 or near its end (10⁷ at most)."""
    count = encoding.position_count if isinstance(encoding, pc.AdditiveEncoding) else None
    last = FAR if count is None else count - 1
    start = draw(st.sampled_from([0, last]) | st.integers(0, last))
    steps = draw(st.lists(st.integers(0, 40), min_size=1, max_size=most))
    rising = [start + sum(steps[:index]) for index in range(len(steps))]
    return [min(position, last) for position in rising]


def width(encoding: pc.Encoding) -> int:
    """Dimensions of the queries and keys that an encoding takes."""
    return getattr(encoding, "head_dim", getattr(encoding, "embed_dim", 6))


def vectors(encoding: pc.Encoding, n: int, seed: int = 0, dtype: Any = torch.float64) -> Any:
    """Standard normal vectors for n positions: (n, width), with a head axis for a score bias."""
    generator = torch.Generator().manual_seed(seed)
    heads = (encoding.num_heads,) if isinstance(encoding, pc.BiasEncoding) else ()
    return torch.randn(*heads, n, width(encoding), generator=generator, dtype=dtype)
