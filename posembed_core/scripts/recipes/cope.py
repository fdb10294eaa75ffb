"""CoPE: gates count the words."""

import numpy as np
import torch

head_dim, npos_max, gates, seed, seq_len = 8, 64, "scaled", 42, 4
i, j = torch.tensor([0]), torch.arange(4)
q: torch.Tensor
k: torch.Tensor

# ---
vectors = np.random.RandomState(seed).randn(npos_max, head_dim) * head_dim**-0.5
vectors = torch.from_numpy(vectors).float()
# --- combine
# With every gate open, the query counts the words from each key to itself, and no later ones.
counted = (i - j + 1).clamp(min=0, max=npos_max - 1)
a = vectors[counted]
# --- attention
logits = q @ k.T
if gates == "scaled":
    logits = logits * head_dim**-0.5
open_gates = logits.sigmoid().tril()  # keys after the query are shut
counted = open_gates.flip(-1).cumsum(-1).flip(-1).tril().clamp(max=npos_max - 1)
below, above = counted.floor().long(), counted.ceil().long()
by_position = q @ vectors.T
lower, upper = by_position.gather(-1, below), by_position.gather(-1, above)
relative = lower + (upper - lower) * (counted - below)
