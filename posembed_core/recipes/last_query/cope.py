"""CoPE: gates count the words, from each key to the last query."""

import torch

npos_max = 64
i, j = torch.tensor([3]), torch.arange(4)
vectors: torch.Tensor

# ---
# With every gate open, the last query counts the words from each key to itself.
counted = (i - j + 1).clamp(max=npos_max - 1)
a = vectors[counted]
