"""Transformer-XL: sinusoids of distances, and two biases for all."""

import numpy as np
import torch

head_dim, base, seed = 8, 10000.0, 42
i, j = torch.tensor([0]), torch.arange(4)
q: torch.Tensor
k: torch.Tensor

# ---
drawn = np.random.RandomState(seed).randn(head_dim + 2, head_dim) * head_dim**-0.5
W, (u, v) = torch.from_numpy(drawn).float().split((head_dim, 2))
two_m = torch.arange(0, head_dim, 2, dtype=torch.float64)
angles = (i[:, None] - j)[..., None] / base ** (two_m / head_dim)
R = torch.cat((angles.sin(), angles.cos()[..., : head_dim // 2]), dim=-1)
WR = (R @ W.double().T).float()
# --- combine
a = WR[0]
# --- attention
relative = torch.einsum("id,ijd->ij", q + v, WR) + k @ u
