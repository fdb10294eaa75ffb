"""One small input, one set of weights, and every encoding in their sizes."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

import posembed_core as pc
from posembed_core.attention.layer import Projections, random_projections

N, DIM, HEADS, WIDTH = 9, 16, 2, 8
ADDITIVE = [slug for slug, cls in pc.encodings().items() if issubclass(cls, pc.AdditiveEncoding)]


def encoding_for(slug: str, **fields: Any) -> pc.Encoding:
    """The encoding with as many heads and dimensions as `PROJECTIONS`."""
    sizes = {"embed_dim": DIM, "head_dim": WIDTH, "num_heads": HEADS}
    known = pc.encodings()[slug].parameters()
    return pc.create(
        slug, **{name: size for name, size in sizes.items() if name in known}, **fields
    )


def tokens(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Nine token vectors."""
    return torch.randn(N, DIM, generator=torch.Generator().manual_seed(0)).to(dtype)


def with_biases(projections: Projections) -> Projections:
    """The same projections with biases that aren't zero."""
    biases = torch.randn(3, HEADS, WIDTH, generator=torch.Generator().manual_seed(5))
    return dataclasses.replace(
        projections, query_bias=biases[0], key_bias=biases[1], value_bias=biases[2]
    )


PROJECTIONS = with_biases(random_projections(DIM, HEADS))
