"""Token vectors e: normal draws of NumPy's legacy generator."""

import numpy as np
import torch

seq_len, embed_dim, token_seed, token_std, token_skip, sqrt_dim = 4, 8, 123, 0.5, 0, False

# ---
tokens = np.random.RandomState(token_seed)
if token_skip > 0:
    tokens.randn(token_skip)  # thrown away
e = torch.from_numpy(tokens.randn(seq_len, embed_dim) * token_std).float()
if sqrt_dim:
    e = e * embed_dim**0.5
