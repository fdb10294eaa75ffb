"""ALiBi: a slope for each head."""

import math

import torch

head, num_heads, alibi_bias_max = 0, 8, 8.0
i, j = torch.tensor([0, 1]), torch.arange(4)

# ---
if num_heads & (num_heads - 1) == 0:
    slope = 2 ** (-alibi_bias_max * (head + 1) / num_heads)
else:
    # Those of the power of two below, then every other one of the power of two above.
    below = 2 ** int(math.log2(num_heads))
    steps = [(h + 1) / below for h in range(below)]
    steps += [(h + 1) / (2 * below) for h in range(0, 2 * below, 2)]
    slope = 2 ** (-alibi_bias_max * steps[head])
b = -slope * (i[:, None] - j).abs().float()
