"""Door 3: vectors for relative positions join the queries and keys inside attention."""

import torch

seq_len, s, at = 4, 1.0, [0, 1]
softmax_scale, scaled = 0.5, True
e: torch.Tensor
q: torch.Tensor
k: torch.Tensor
a: torch.Tensor
relative: torch.Tensor

# --- positions
i, j = torch.tensor([0]), torch.arange(seq_len)  # the query at 0, all keys
# --- combine
h = e  # position comes in later: attention joins s·a to queries and keys
# --- show
shown = {"e": e[at], "s·a": s * a[at], "h": h[at]}
# --- input
x = e
# --- scores
if scaled:
    scores = (q @ k.T + s * relative) * softmax_scale
else:
    scores = q @ k.T * softmax_scale + s * relative
