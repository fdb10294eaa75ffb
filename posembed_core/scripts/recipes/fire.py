"""FIRE: a small network of the normalised distance."""

import numpy as np
import torch

head, num_heads, c, threshold, mlp_width, seed = 0, 8, 0.1, 512.0, 32, 42
i, j = torch.tensor([0, 1]), torch.arange(4)

# ---
generator = np.random.RandomState(seed)
first = torch.from_numpy(generator.rand(2, mlp_width) * 2 - 1).float()
second = torch.from_numpy(generator.rand(mlp_width + 1, num_heads) * 2 - 1).float()
second = second * mlp_width**-0.5  # weights, and biases as the last row
psi_distance = (c * (i[:, None] - j).abs().double()).log1p()
psi_query = (c * i.double().clamp(min=threshold)).log1p() + 1e-6
ratio = (psi_distance / psi_query[:, None]).float()
hidden = (ratio[..., None] * first[0] + first[1]).relu()
b = hidden @ second[:-1, head] + second[-1, head]
