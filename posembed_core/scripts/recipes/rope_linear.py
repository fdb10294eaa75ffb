"""Position interpolation: all frequencies divided alike."""

import torch

base, d, factor = 10000.0, 8, 4.0

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d) / factor
