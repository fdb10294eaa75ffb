"""Experiments on one attention layer, all heads: words that change places, positions that move."""

from collections.abc import Callable

import numpy as np
import torch

seq_len, num_heads, shown_head, shuffle_seed, shift, at = 4, 2, 0, 1, 100, [0, 1]
causal, draws, fixed = False, 1, [0]
e: torch.Tensor
h: torch.Tensor
p: torch.Tensor
i: torch.Tensor
scores: torch.Tensor
output_of: Callable[[int, torch.Tensor, bool], torch.Tensor]
scores_of: Callable[[int, torch.Tensor], torch.Tensor]
s = 1.0

# --- rows
i = torch.arange(seq_len)
# --- shifted rows
i = torch.arange(seq_len + shift)
seq_len = seq_len + shift
# --- positions
i = j = torch.arange(seq_len)
# --- moved
j = i
seq_len = int(i.max()) + 1
# --- added
x = e + s * p
# --- added there
x = e + s * p[i]
# --- alone
x = e
# --- softmax
if causal:
    scores = scores.masked_fill(j > i[:, None], -torch.inf)  # no key after its query
alpha = scores.softmax(-1)
# --- shuffle
random = np.random.RandomState(shuffle_seed)
if fixed:
    moving = torch.tensor([slot for slot in range(seq_len) if slot not in fixed])
    mixed_up = [torch.from_numpy(random.permutation(len(moving))) for _ in range(draws)]
    order = torch.arange(seq_len)
    order[moving] = moving[mixed_up[-1]]
else:
    order = torch.stack([torch.from_numpy(random.permutation(seq_len)) for _ in range(draws)])[-1]
for mask in (False, True):
    plain = torch.stack([output_of(head, e, mask) for head in range(num_heads)])
    mixed = torch.stack([output_of(head, e[order], mask) for head in range(num_heads)])
    error = mixed - plain[:, order]  # f(PX) - P f(X)
    print("with a causal mask" if mask else "without a mask")
    print(f"  error    norm {error.norm():.6g}, greatest {error.abs().max():.6g}")
    print(f"  f(X)     norm {plain.norm():.6g}")
    slots = torch.linalg.vector_norm(error, dim=(0, 2))
    print(f"  slots    [{', '.join(f'{x:.6g}' for x in slots[:8].tolist())}, …]")
# --- shift
positions = torch.arange(len(e))
heads = range(num_heads)
before = torch.stack([scores_of(head, positions) for head in heads])
change = torch.stack([scores_of(head, positions + shift) for head in heads]) - before
print(f"greatest change {change.abs().max():.6g}, greatest score {before.abs().max():.6g}")
for row in at:
    first = ", ".join(f"{x:.6g}" for x in change[shown_head, row, :8].tolist())
    print(f"  query {row} [{first}, …]")
