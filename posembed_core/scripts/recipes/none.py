"""No position at all."""

import torch

seq_len, embed_dim = 4, 8

# ---
p = torch.zeros(seq_len, embed_dim)
