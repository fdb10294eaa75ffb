"""LayerNorm after the combination, with the model's own weights where they fit."""

from collections.abc import Callable

import torch

layer_norm, has_weights, operation, eps = True, False, "add", 1e-5
at = [0, 1]
h: torch.Tensor
shown: dict[str, torch.Tensor]
weight: Callable[..., torch.Tensor]

# --- combine
if layer_norm:
    if has_weights:
        gain = weight("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma")
        bias = weight("embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta")
        h = torch.nn.functional.layer_norm(h, h.shape[-1:], gain, bias, eps)
    else:
        h = torch.nn.functional.layer_norm(h, h.shape[-1:], eps=eps)  # biased variance
# --- show
if has_weights and not layer_norm:
    # What the model's own LayerNorm makes of h.
    gain = weight("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma")
    bias = weight("embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta")
    shown["LN(h)"] = torch.nn.functional.layer_norm(h, h.shape[-1:], gain, bias, eps)[at]
