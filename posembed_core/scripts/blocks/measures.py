"""The measures of a table, in float64."""

import torch

p: torch.Tensor
nearest_base: float

# ---
p = p.double()
centred = p - p.mean(dim=0)
centred[centred.abs() <= p.abs().amax(dim=0) * 2.0**-45] = 0  # rounding
norms = p.norm(dim=1)
sigma = torch.linalg.svdvals(p)


def adjacent(rows: torch.Tensor) -> torch.Tensor:
    """The mean cosine of each row and the next; a zero row has none."""
    units = rows / rows.norm(dim=1, keepdim=True)
    mean: torch.Tensor = (units[:-1] * units[1:]).sum(dim=1).nanmean()
    return mean


shares = sigma / sigma.sum()
effective_rank = torch.special.entr(shares).sum().exp()
variances = torch.linalg.svdvals(centred) ** 2
print(f"mean norm                {norms.mean():.6g}")
print(f"cosine of adjacent rows  {adjacent(p):.6g}")
print(f"… mean row removed       {adjacent(centred):.6g}")
print(f"effective rank           {effective_rank:.6g}")
print(f"variance in 3 components {variances[:3].sum() / variances.sum():.6g}")
# --- sinusoid
# What no turning, mirroring, shifting and scaling makes a sinusoid of that base (Procrustes).
n, d = p.shape
omega = nearest_base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
angles = torch.arange(n)[:, None] * omega
waves = torch.cat((angles.sin(), angles[:, : d // 2].cos()), dim=1)
waves = waves - waves.mean(dim=0)
nuclear = torch.linalg.svdvals(centred.T @ waves).sum()
distance = max(0.0, float(1 - nuclear**2 / (centred.square().sum() * waves.square().sum())))
sinusoid = f"base {nearest_base:g}, exponents i/half"
print(f"distance to a sinusoid   {distance:.6g} ({sinusoid})")
# --- sinusoid, slowest wave 1/base
# What no turning, mirroring, shifting and scaling makes a sinusoid of that base (Procrustes).
n, half = len(p), p.shape[1] // 2
omega = nearest_base ** -(torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
angles = torch.arange(n)[:, None] * omega
waves = torch.cat((angles.sin(), angles.cos()), dim=1)
waves = waves - waves.mean(dim=0)
nuclear = torch.linalg.svdvals(centred.T @ waves).sum()
distance = max(0.0, float(1 - nuclear**2 / (centred.square().sum() * waves.square().sum())))
sinusoid = f"base {nearest_base:g}, exponents i/(half - 1)"
print(f"distance to a sinusoid   {distance:.6g} ({sinusoid})")
# --- norms
print(f"norms [{', '.join(f'{x:.6g}' for x in norms[:8].tolist())}, …]")
# --- similarity
units = p / norms[:, None]
cosines = units @ units.T
for apart in (1, 2, 4, 8, 16, 32, 64):
    if apart < len(p):
        print(f"mean cosine {apart} apart: {cosines.diagonal(apart).nanmean():.6g}")
# --- patches
side = int(len(p) ** 0.5)
units = p / norms[:, None]
tiles = (units @ units.T).reshape(side, side, side, side)  # patch row, column; row, column
first = ", ".join(f"{x:.6g}" for x in tiles[0, 0, 0, :8].tolist())
print(f"cosines of the first patch with those of its row [{first}, …]")
# --- singular values
print(f"singular values [{', '.join(f'{x:.6g}' for x in sigma[:8].tolist())}, …]")
# --- waves
n = len(p)
power = (torch.fft.rfft(p, dim=0).abs() / n).square()
power[1 : (n + 1) // 2] *= 2  # a frequency and its negative are one line
strongest = power.mean(dim=1).argsort(descending=True)[:8].tolist()
for line in strongest:
    print(f"frequency {line / n:.6g}: mean power {power[line].mean():.6g}")
# --- components
directions = torch.linalg.svd(centred, full_matrices=False)[2][:3].T
largest = directions.gather(0, directions.abs().argmax(dim=0, keepdim=True))
curves = centred @ (directions * largest.sign())  # the sign is free: the largest entry is positive
for number, curve in enumerate(curves.T, start=1):
    share = variances[number - 1] / variances.sum()
    first = ", ".join(f"{x:.6g}" for x in curve[:5].tolist())
    print(f"component {number}: {share:.6g} of the variance, along it [{first}, …]")
