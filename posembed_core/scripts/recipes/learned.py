"""The table before training: NumPy's legacy draws."""

import numpy as np
import torch

seq_len, embed_dim, seed, skip = 4, 8, 42, 0
std: float | None = None

# ---
table = np.random.RandomState(seed)
if skip > 0:
    table.randn(skip)  # thrown away
if std is None:
    p = torch.from_numpy(table.randn(seq_len, embed_dim) * embed_dim**-0.5).float()
else:
    p = torch.from_numpy(table.randn(seq_len, embed_dim) * std).float()
