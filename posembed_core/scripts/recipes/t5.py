"""T5: a number for each head and bucket of distances."""

import numpy as np
import torch

head, num_heads, num_buckets, max_distance, bidirectional = 0, 8, 32, 128, True
initializer_factor, seed = 1.0, 42
i, j = torch.tensor([0, 1]), torch.arange(4)

# ---
drawn = np.random.RandomState(seed).randn(num_buckets, num_heads)
table = torch.from_numpy(drawn * initializer_factor * (64 * num_heads) ** -0.5).float()
if bidirectional:
    buckets = num_buckets // 2  # of keys before the query, as many for those after it
else:
    buckets = num_buckets
single = buckets // 2  # so many distances have a bucket each
wide = buckets - single


def bucket(distance: int) -> int:
    # In whole numbers: float32 logarithms can fall on the wrong side of a border.
    reached = (max_distance**k * single ** (wide - k) <= distance**wide for k in range(1, wide))
    return distance if distance < single else single + sum(reached)


relative = j - i[:, None]
if bidirectional:
    rows = torch.tensor([bucket(x) for x in range(int(relative.abs().max()) + 1)])[relative.abs()]
    rows = rows + buckets * (relative > 0)
else:
    before = (-relative).clamp(min=0)
    rows = torch.tensor([bucket(x) for x in range(int(before.max()) + 1)])[before]
b = table[rows, head]
