"""A position table p: a tensor of a file."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

folder = "model"
file, tensor, offset, kind = "table.npy", "position_embeddings.weight", 0, "npy"


# --- flat
def tensors(held: Any, name: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in nested dictionaries and lists, by dotted name."""
    if torch.is_tensor(held):
        yield name or "tensor", held
    elif isinstance(held, dict | list | tuple):
        for key, item in held.items() if isinstance(held, dict) else enumerate(held):
            yield from tensors(item, f"{name}.{key}" if name else str(key))


# ---
# The file lies where the script is run.
if kind in {"npy", "npz"}:
    array = np.load(file) if kind == "npy" else np.load(file)[tensor]
    if array.dtype.kind == "V":  # bfloat16, which NumPy doesn't know
        p = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16).float()
    else:
        p = torch.from_numpy(array.astype(np.float32))
elif kind == "safetensors":
    p = load_file(file)[tensor].float()
else:
    p = dict(tensors(torch.load(file, map_location="cpu", weights_only=True)))[tensor].float()
p = p.detach().reshape(-1, p.shape[-1])
# --- model
# The folder has the model's own model.safetensors.
weights = load_file(f"{folder}/model.safetensors")
endings = ("position_embeddings.weight", "wpe.weight")  # as in BERT, as in GPT-2
p = weights[min((name for name in weights if name.endswith(endings)), key=len)].float()
# --- rows
if offset > 0:
    p = p[offset:]  # the rows before belong to no position
