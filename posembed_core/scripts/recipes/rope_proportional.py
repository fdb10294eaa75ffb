"""Proportional RoPE: only the fastest pairs turn."""

import torch

base, d, factor, turning_fraction = 10000.0, 8, 1.0, 0.25

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d) / factor
omega[int(turning_fraction * d // 2) :] = 0
