"""What the figures measure on a table, each measure with its definition and source."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from posembed_core.norms import row_norms
from posembed_core.tables.measures.similarity import (
    Decay,
    Similarity,
    adjacent_cosine,
    centred,
    cosine_similarity,
    distance_decay,
    patch_similarity,
)
from posembed_core.tables.measures.sinusoid_fit import (
    SinusoidFit,
    procrustes_distance,
    sinusoid_distance,
)
from posembed_core.tables.measures.spectra import (
    Components,
    FourierPower,
    effective_rank,
    fourier_power,
    principal_components,
    singular_values,
)

__all__ = [
    "Components",
    "Decay",
    "FourierPower",
    "Measures",
    "Similarity",
    "SinusoidFit",
    "adjacent_cosine",
    "centred",
    "cosine_similarity",
    "distance_decay",
    "effective_rank",
    "fourier_power",
    "measure",
    "patch_similarity",
    "principal_components",
    "procrustes_distance",
    "row_norms",
    "singular_values",
    "sinusoid_distance",
]


@dataclass(frozen=True)
class Measures:
    """One number per measure, to compare tables side by side; None where it is undefined.

    ``adjacent_centred`` is the adjacent cosine of the table without its mean row,
    ``three_components`` the share of the variance in the first three principal components.
    """

    mean_norm: float
    adjacent: float | None
    adjacent_centred: float | None
    effective_rank: float | None
    three_components: float
    sinusoid: SinusoidFit | None


def measure(table: Float[Tensor, "n d"]) -> Measures:
    """All measures of a table; seconds for 2048 × 1024, so keep the result.

    >>> import torch
    >>> measure(torch.eye(4)).effective_rank
    4.0
    """
    return Measures(
        mean_norm=row_norms(table).mean().item(),
        adjacent=adjacent_cosine(table),
        adjacent_centred=adjacent_cosine(centred(table)),
        effective_rank=effective_rank(singular_values(table)),
        three_components=principal_components(table, 3).shares.sum().item(),
        sinusoid=sinusoid_distance(table),
    )
