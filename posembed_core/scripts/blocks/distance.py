"""Score against distance: one query at the last position, one key at each distance before it."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

apart: Sequence[int] = range(11)
asked, farthest = [1, 10], 10
width, draws, softmax_scale, value, base = 8, 256, 0.5, 1.0, 10000.0
omega: torch.Tensor
i: torch.Tensor
q: torch.Tensor
k: torch.Tensor
p: torch.Tensor
b: torch.Tensor
bias_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
scores_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# --- positions
back = torch.tensor(apart)
i = j = farthest - back.flip(0)  # in order, the query last
seq_len = farthest + 1
# --- all rows
back = torch.tensor(apart)
seq_len = farthest + 1
i = torch.arange(seq_len)
# --- added
p = p[farthest - back.flip(0)]
# --- scores
scores = (q + p) @ (k + p).T * softmax_scale
# --- show
same = scores_of(torch.full((len(back), width), value), torch.full((len(back), width), value))
same = same[-1].flip(0)  # the last query, by distance
normal = torch.from_numpy(np.random.RandomState(0).randn(2 * draws, width))
pairs = zip(normal[:draws], normal[draws:], strict=True)
each = [scores_of(q.expand(len(back), -1), k.expand(len(back), -1))[-1].flip(0) for q, k in pairs]
mean = torch.stack(each).mean(0)
error = torch.stack(each).std(0) * draws**-0.5
print("distance  q = k: score, less that at 0   random: mean, standard error")
for distance in asked:
    at = apart.index(distance)
    print(
        f"{distance:8}  {same[at]:<14.8g} {same[at] - same[0]:<15.8g}"
        f"  {mean[at]:<14.8g} {error[at]:.8g}"
    )
# --- rotary
waves = back[:, None] * omega
bound = torch.complex(waves.cos(), waves.sin()).cumsum(-1).abs().mean(-1)
for distance in asked:
    at = apart.index(distance)
    print(f"{distance:8}  mean cosine {waves[at].cos().mean():.6f}, bound {bound[at]:.6f}")
# --- biased
scores = q @ k.T * softmax_scale + bias_of(i, j)
# --- bias
long = 8192
b = bias_of(torch.tensor([long]), long - torch.arange(long + 1))[0]
fallen = (b[0] - b >= math.log(2)).nonzero().flatten().tolist()  # a weight is halved
if fallen:
    before, first = b[fallen[0] - 1], b[fallen[0]]
    part = (before - b[0] + math.log(2)) / (before - first)  # between two whole distances
    print(f"half-life {fallen[0] - 1 + part:.6f} tokens (on a line between whole distances)")
else:
    print(f"half-life not within {long} tokens")
