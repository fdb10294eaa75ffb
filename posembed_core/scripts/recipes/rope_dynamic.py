"""Dynamic NTK: a base that grows with the sequence."""

import torch

base, d, factor, original_max_position_embeddings, seq_len = 10000.0, 8, 4.0, 2048, 4096

# ---
stretch = max(1.0, factor * seq_len / original_max_position_embeddings - (factor - 1))
larger = base * stretch ** (d / (d - 2) if d > 2 else 0)
omega = larger ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
