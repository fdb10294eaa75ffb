"""DeBERTa: content to position and position to content."""

import math

import numpy as np
import torch

head_dim, p2c, distances, position_buckets, max_relative_positions = 8, "released", "clipped", 4, 9
seed = 42
i, j = torch.tensor([0]), torch.arange(4)
q: torch.Tensor
k: torch.Tensor

# ---
if distances == "log":
    K = position_buckets
else:
    K = max_relative_positions
drawn = np.random.RandomState(seed)
P = torch.from_numpy(drawn.randn(2 * K, head_dim)).float()
W = torch.from_numpy(drawn.randn(2, head_dim, head_dim) * head_dim**-0.5).float()
k_r, q_r = P @ W[0], P @ W[1]  # what queries meet, what keys meet
delta = i[:, None] - j
if distances == "log":
    middle, last = K // 2, max_relative_positions - 1
    far = (delta.abs().double() / middle).log() / math.log(last / middle) * (middle - 1)
    far = (far - 1e-9).ceil() + middle  # on a border, logarithms are a hair too large
    delta = torch.where(delta.abs() <= middle, delta, far.long() * delta.sign())
rows = (delta + K).clamp(0, 2 * K - 1)
# --- combine
a = k_r[rows[0]]
# --- attention
c2p = torch.einsum("id,ijd->ij", q, k_r[rows])
if p2c == "paper":
    mirrored = (K - delta).clamp(0, 2 * K - 1)  # delta(j, i)
else:
    mirrored = rows
relative = c2p + torch.einsum("jd,ijd->ij", k, q_r[mirrored])
