"""Shaw: a vector for each clipped distance."""

import numpy as np
import torch

head_dim, max_relative_position, seed = 8, 16, 42
i, j = torch.tensor([0]), torch.arange(4)
s = 1.0
q: torch.Tensor
alpha: torch.Tensor
output: torch.Tensor

# ---
limit = max_relative_position
tables = np.random.RandomState(seed).randn(2 * (2 * limit + 1), head_dim) * head_dim**-0.5
w_k, w_v = torch.from_numpy(tables).float().chunk(2)  # for keys, for values
rows = (j - i[:, None]).clamp(-limit, limit) + limit
# --- combine
a = w_k[rows[0]]
# --- attention
relative = torch.einsum("id,ijd->ij", q, w_k[rows])  # q_i · a_ij
# --- values
output = output + s * torch.einsum("ij,ijd->id", alpha, w_v[rows])
