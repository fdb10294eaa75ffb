"""The frequencies of a model's RoPE, before and after its scaling."""

import math

import torch

base, rotary_dim, has_attention_factor, attention_factor = 10000.0, 8, False, 1.0
omega: torch.Tensor

# --- positions
d = rotary_dim
before = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
# --- show
if has_attention_factor:
    print(f"cos and sin times {attention_factor:.9g}, scores times {attention_factor**2:.9g}")
print("pair  before, radians  after, radians   before, positions  after, positions")
for m, (old, new) in enumerate(zip(before.tolist(), omega.tolist(), strict=True)):
    turns = [2 * math.pi / w if w else math.inf for w in (old, new)]
    print(f"{m:4}  {old:<15.9g}  {new:<15.9g}  {turns[0]:<17.9g}  {turns[1]:.9g}")
