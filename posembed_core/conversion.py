"""From one pair layout to the other: RoPE weights are converted by permuting rows."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def interleaved_to_half(
    weight: Float[Tensor, "rows *columns"], num_heads: int
) -> Float[Tensor, "rows *columns"]:
    """Rows of a query or key projection (or its bias) for ``pairing="half"``, from interleaved.

    Rows are head after head. Attention scores stay the same when both q and k are converted (what
    transformers' ``convert_llama_weights_to_hf`` does to Meta's Llama weights).
    """
    # rows of one head: [a0 b0 a1 b1 …] -> [a0 a1 … | b0 b1 …]
    rows: Tensor = weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)
    return rows


def half_to_interleaved(
    weight: Float[Tensor, "rows *columns"], num_heads: int
) -> Float[Tensor, "rows *columns"]:
    """The inverse of `interleaved_to_half`."""
    rows: Tensor = weight.unflatten(0, (num_heads, 2, -1)).transpose(1, 2).flatten(0, 2)
    return rows
