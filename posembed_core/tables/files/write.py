"""A table as the bytes of a file that others can read."""

from __future__ import annotations

import io

import numpy as np
import safetensors.torch
from jaxtyping import Float
from torch import Tensor


def to_npy(weight: Float[Tensor, "rows columns"]) -> bytes:
    """A .npy file (format 1.0) of the same float32 numbers, bit for bit."""
    buffer = io.BytesIO()
    np.save(buffer, weight.detach().contiguous().numpy(), allow_pickle=False)
    return buffer.getvalue()


def to_safetensors(weight: Float[Tensor, "rows columns"], name: str) -> bytes:
    """A .safetensors file of one tensor called ``name``, the same float32 numbers, bit for bit."""
    return safetensors.torch.save({name: weight.detach().contiguous()})
