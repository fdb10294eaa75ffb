"""Sines and cosines of the position, at one frequency for each pair of dimensions."""

import torch

seq_len, embed_dim, base, layout = 4, 8, 10000.0, "interleaved"
i = torch.arange(seq_len)

# ---
two_m = torch.arange(0, embed_dim, 2, dtype=torch.float64)  # angles in float64, then cast
angles = i[:, None] / base ** (two_m / embed_dim)
sines, cosines = angles.sin(), angles.cos()[:, : embed_dim // 2]
if layout == "interleaved":
    p = torch.empty(seq_len, embed_dim)
    p[:, 0::2], p[:, 1::2] = sines, cosines
else:
    p = torch.cat((sines, cosines), dim=1).float()
