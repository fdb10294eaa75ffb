"""KERPLE: a kernel of the distance."""

import numpy as np
import torch

head, num_heads, kernel, seed = 0, 8, "log", 42
bias_p: tuple[float, ...] = ()
bias_a: tuple[float, ...] = ()
i, j = torch.tensor([0, 1]), torch.arange(4)

# ---
if bias_p == ():
    drawn_p = 2 * np.random.RandomState(seed).rand(num_heads)
    p = torch.tensor(drawn_p[head]).float().clamp(min=0.01)
else:
    p = torch.tensor(bias_p[head])
if bias_a == ():
    drawn_a = np.random.RandomState(seed).rand(2, num_heads)[1]
    a = torch.tensor(drawn_a[head]).float().clamp(min=0.01)
else:
    a = torch.tensor(bias_a[head])
distances = (i[:, None] - j).abs().float()
if kernel == "log":
    b = -p * (a * distances).log1p()
else:
    b = -a * distances**p
