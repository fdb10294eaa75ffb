"""Door 2: a number for each pair of positions is added to the scores."""

import torch

seq_len, s, at, head = 4, 1.0, [0, 1], 0
softmax_scale, scaled = 0.5, True
e: torch.Tensor
q: torch.Tensor
k: torch.Tensor
b: torch.Tensor

# --- positions
i, j = torch.tensor(at), torch.arange(seq_len)  # some queries, all keys
# --- combine
h = e  # position comes in later: attention adds s·b to the scores, before softmax
# --- show
shown = {"e": e[at], "s·b": s * b, "h": h[at]}
# --- input
x = e
# --- scores
scores = q @ k.T * softmax_scale + s * b
