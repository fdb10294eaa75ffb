"""Plain RoPE."""

import torch

base, d = 10000.0, 8

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
