"""Token vectors e: a random one for each different word, wherever it stands."""

import numpy as np
import torch

text, most_tokens, embed_dim, token_seed, token_std = "A sentence.", 128, 8, 123, 1.0
sqrt_dim, is_cut = False, False

# ---
words = text.lower().split()
if is_cut:
    words = words[:most_tokens]
seq_len = len(words)
kinds = list(dict.fromkeys(words))
vectors = np.random.RandomState(token_seed).randn(len(kinds), embed_dim) * token_std
e = torch.from_numpy(vectors).float()[[kinds.index(word) for word in words]]
if sqrt_dim:
    e = e * embed_dim**0.5
