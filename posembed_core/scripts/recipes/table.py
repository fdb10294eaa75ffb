"""The position table of the model that reads the sentence."""

from collections.abc import Callable

import torch

offset, seq_len = 0, 4
weight: Callable[..., torch.Tensor]

# ---
table = weight("position_embeddings.weight", "wpe.weight")
p = table[offset : offset + seq_len]
