"""LongRoPE: a factor for each pair."""

import torch

base, d, seq_len, original_max_position_embeddings = 10000.0, 8, 4, 4096
short_factor: tuple[float, ...] = ()
long_factor: tuple[float, ...] = ()

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
if short_factor or long_factor:
    factors = long_factor if seq_len > original_max_position_embeddings else short_factor
    omega = omega / torch.tensor(factors or [1.0], dtype=torch.float64)
