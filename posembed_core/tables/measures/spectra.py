"""What a table is made of: singular values, waves along the positions, principal components."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.tables.measures.similarity import centred

_COLUMNS = 256  # of a table at a time, for its Fourier transform


@dataclass(frozen=True, eq=False)
class FourierPower:
    """How the mean square of each column splits up into waves along the positions.

    ``frequencies``, in cycles per position, go from 0 (the column's mean) to 1/2 (a change of sign
    at every position); ``power`` is float32.
    """

    frequencies: Float[Tensor, " lines"]
    power: Float[Tensor, "lines d"]


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of a table, the strongest first, float64.

    ``curves`` are the coordinates of each position along them, ``shares`` their parts of the total
    variance (all shares together give 1), ``directions`` are unit vectors.
    """

    curves: Float[Tensor, "n count"]
    shares: Float[Tensor, " count"]
    directions: Float[Tensor, "d count"]


def singular_values(table: Float[Tensor, "n d"]) -> Float[Tensor, " rank"]:
    """All ``min(n, d)`` singular values, largest first, float64.

    >>> singular_values(torch.diag(torch.tensor([1.0, 3.0]))).tolist()
    [3.0, 1.0]
    """
    values: Tensor = torch.linalg.svdvals(table.to(torch.float64))
    return values


def effective_rank(values: Float[Tensor, " rank"]) -> float | None:
    """exp(-Σ p ln p) with p the singular values divided by their sum; None where all are 0.

    Roy and Vetterli 2007, The effective rank: a measure of effective dimensionality (EUSIPCO),
    definition 1. k equal singular values give k, whatever the number of zeros.

    >>> round(effective_rank(torch.tensor([2.0, 2.0, 0.0])), 6)
    2.0
    """
    total = values.sum()
    if total == 0:
        return None
    shares = values / total
    return float(torch.special.entr(shares).sum().exp())


def fourier_power(table: Float[Tensor, "n d"]) -> FourierPower:
    """The one-sided periodogram of each column, without a window and with the mean left in.

    |X_k|² / n², doubled where k and -k are two lines; the lines of a column sum to its mean square
    (Parseval). A wave whose length divides n is one line; any other leaks into its neighbours.
    Stoica and Moses 2005, Spectral Analysis of Signals, section 2.2.

    >>> fourier_power(torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])).power.flatten().tolist()
    [0.0, 0.0, 1.0]
    """
    count, width = table.shape
    frequencies = torch.fft.rfftfreq(count, dtype=torch.float64)
    power = torch.empty(len(frequencies), width)
    sides = torch.full((len(frequencies), 1), 2.0, dtype=torch.float64)
    sides[0] = 1
    if count % 2 == 0:
        sides[-1] = 1
    for part, out in zip(
        torch.split(table, _COLUMNS, dim=1), torch.split(power, _COLUMNS, dim=1), strict=True
    ):
        lines = torch.fft.rfft(part.to(torch.float64), dim=0)
        out.copy_(sides * (lines.abs() / count).square())
    return FourierPower(frequencies, power)


def principal_components(table: Float[Tensor, "n d"], count: int = 3) -> Components:
    """The first ``count`` principal components of the centred table (fewer if it has fewer).

    Pearson 1901. A direction's sign is free; it is chosen to make the largest entry positive. A
    table of equal rows has no variance and all shares 0.

    >>> table = torch.tensor([[0.0, 0.0], [2.0, 0.0]])
    >>> principal_components(table, 1).directions.flatten().tolist()
    [1.0, 0.0]
    """
    deviations = centred(table)
    rows, width = deviations.shape
    count = min(count, rows, width)
    # Of the two Gram matrices that share their eigenvalues, the smaller one.
    if width <= rows:
        squares, directions = _strongest(deviations.T @ deviations, count)
    else:
        squares, curves = _strongest(deviations @ deviations.T, count)
        directions = deviations.T @ curves
        directions = directions / directions.norm(dim=0).clamp(min=torch.finfo(torch.float64).tiny)
    largest = directions.gather(0, directions.abs().argmax(dim=0, keepdim=True))
    directions = directions * torch.where(largest < 0, -1.0, 1.0)
    total = deviations.square().sum()
    shares = squares / total if total > 0 else torch.zeros_like(squares)
    return Components(deviations @ directions, shares, directions)


def _strongest(
    gram: Float[Tensor, "m m"], count: int
) -> tuple[Float[Tensor, " count"], Float[Tensor, "m count"]]:
    values, vectors = torch.linalg.eigh(gram)
    return values.flip(0)[:count].clamp(min=0), vectors.flip(1)[:, :count]
