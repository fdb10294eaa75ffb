"""NTK-aware scaling: a greater base."""

import torch

base, d, factor = 10000.0, 8, 4.0

# ---
larger = base * factor ** (d / (d - 2) if d > 2 else 0)
omega = larger ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
