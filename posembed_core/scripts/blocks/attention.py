"""One head: projections before, mask and softmax after the scores."""

from collections.abc import Callable

import numpy as np
import torch

seq_len, embed_dim, head_dim, num_heads, head, projection_seed, layer = 4, 8, 4, 2, 0, 7, 0
at, temperature, causal, has_weights, eps = [0, 1], 1.0, False, False, 1e-12
x: torch.Tensor
scores: torch.Tensor
alpha: torch.Tensor
weight: Callable[..., torch.Tensor]

# --- positions
i = j = torch.arange(seq_len)
# --- drawn weights
W = np.random.RandomState(projection_seed).randn(num_heads, 3, head_dim, embed_dim)
W_q, W_k, W_v = torch.from_numpy(W[head] * embed_dim**-0.5).float()
# --- drawn
q, k = x @ W_q.T, x @ W_k.T
# --- model norm
if has_weights:
    gain = weight("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma")
    bias = weight("embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta")
    x = torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias, eps)
# --- model weights
own = slice(head * head_dim, (head + 1) * head_dim)  # the rows of this head
attention = f"layer.{layer}.attention.self"
W_q, b_q = (weight(f"{attention}.query.{name}")[own] for name in ("weight", "bias"))
W_k, b_k = (weight(f"{attention}.key.{name}")[own] for name in ("weight", "bias"))
# --- model
q, k = x @ W_q.T + b_q, x @ W_k.T + b_k
# --- drawn output
output = alpha @ (x @ W_v.T)
# --- model output
W_v, b_v = (weight(f"{attention}.value.{name}")[own] for name in ("weight", "bias"))
output = alpha @ (x @ W_v.T + b_v)
# --- show
if causal:
    scores = scores.masked_fill(j > i[:, None], -torch.inf)  # no key after its query
if temperature != 1.0:
    alpha = (scores / temperature).softmax(-1)
else:
    alpha = scores.softmax(-1)

for position in at:
    print(f"query {position}, its first keys")
    for name, row in {"scores": scores[position], "softmax": alpha[position]}.items():
        print(f"  {name:8} [{', '.join(f'{x:.4f}' for x in row[:8].tolist())}, …]")
