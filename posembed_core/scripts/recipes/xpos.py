"""xPos: the rotation of RoPE, and in scores a decay for each pair."""

from collections.abc import Callable

import torch

base, d, scale_base, pairing, rotary_fraction = 10000.0, 8, 512.0, "half", 1.0
s, softmax_scale = 1.0, 0.5
i, j, angles = torch.arange(4), torch.arange(4), torch.zeros(4, 4)
q: torch.Tensor
k: torch.Tensor
rotate: Callable[[torch.Tensor], torch.Tensor]

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
# --- scores
zeta = (torch.arange(0, d, 2, dtype=torch.float64) / d + 0.4) / 1.4
cos, sin = angles.cos(), angles.sin()
q, k = rotate(q.double()), rotate(k.double())
decay = zeta ** (s * (i[:, None] - j)[..., None] / scale_base)  # (queries, keys, pairs)
if pairing == "half":
    pairs = torch.cat((decay, decay), dim=-1)
else:
    pairs = decay.repeat_interleave(2, dim=-1)
scores = torch.einsum("id,jd,ijd->ij", q[:, :d], k[:, :d], pairs)
if rotary_fraction != 1.0:
    scores = scores + q[:, d:] @ k[:, d:].T
scores = (softmax_scale * scores).float()
