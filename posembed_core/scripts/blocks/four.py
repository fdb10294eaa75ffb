"""The scores of an additive encoding as a sum of four."""

from collections.abc import Callable

import torch

head, softmax_scale, eps, has_weights, s, removed, at = 0, 0.5, 1e-12, False, 1.0, 0.0, [0]
e: torch.Tensor
p: torch.Tensor
W_q: torch.Tensor
W_k: torch.Tensor
b_q: torch.Tensor
b_k: torch.Tensor
weight: Callable[..., torch.Tensor]

# --- parts
content, position = e, s * p
if has_weights:
    # A LayerNorm is linear once the deviation of the sum is known.
    gain = weight("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma")
    bias = weight("embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta")
    deviation = ((content + position).var(-1, correction=0, keepdim=True) + eps).sqrt()
    content = (content - content.mean(-1, keepdim=True)) / deviation * gain + bias
    position = (position - position.mean(-1, keepdim=True)) / deviation * gain
# --- projected
# Queries and keys that read less, or nothing, of the directions that these positions fill.
sizes, directions = torch.linalg.svd(position, full_matrices=False)[1:]
directions = directions[sizes > torch.finfo(torch.float64).eps * max(position.shape) * sizes.max()]
content = content - removed * (content @ directions.T) @ directions
position = position - removed * (position @ directions.T) @ directions
# --- drawn
q = {"content": content @ W_q.T, "position": position @ W_q.T}
k = {"content": content @ W_k.T, "position": position @ W_k.T}
# --- model
q = {"content": content @ W_q.T + b_q, "position": position @ W_q.T}
k = {"content": content @ W_k.T + b_k, "position": position @ W_k.T}
# --- show
terms = {f"{a}-{b}": q[a] @ k[b].T * softmax_scale for a in q for b in k}
scores = (q["content"] + q["position"]) @ (k["content"] + k["position"]).T * softmax_scale
for name, term in {**terms, "the scores": scores}.items():
    print(f"{name:17} greatest {term.abs().max():.6g}")
    for row in at:
        print(f"  query {row} [{', '.join(f'{x:.6g}' for x in term[row, :8].tolist())}, …]")
print(f"the four minus the whole: at most {(sum(terms.values()) - scores).abs().max():.2g}")
