"""Door 1: a vector for each position joins the token's at the input."""

import torch

seq_len, s, at, operation = 4, 1.0, [0, 1], "add"
softmax_scale, scaled = 0.5, True
e: torch.Tensor
q: torch.Tensor
k: torch.Tensor
p: torch.Tensor

# --- positions
i = torch.arange(seq_len)
# --- combine
if operation == "add":
    h = e + s * p
elif operation == "multiply":
    h = e * (s * p)
else:
    h = torch.cat((e, s * p), dim=-1)
# --- show
shown = {"e": e[at], "s·p": s * p[at], "h": h[at]}
# --- input
x = e + s * p
# --- scores
scores = q @ k.T * softmax_scale
