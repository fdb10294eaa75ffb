"""Conventions that differ between implementations: the row of a padded token, the layout of pairs.

`gpt2_generate`, `roberta`, `bart` and `opt` take a mask (..., n) that is True for tokens and False
for padding, and give int64 table rows of the same shape. They differ in where counting starts, in
whether padding is counted, and in what padding gets. `interleaved_to_half` and
`half_to_interleaved` permute the rows of a projection to give its pairs the other layout.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def counted(mask: Bool[Tensor, "*batch n"]) -> Int[Tensor, "*batch n"]:
    """0, 1, 2 … over the tokens of each row; -1 for padding before the first token.

    >>> counted(torch.tensor([False, True, True, False])).tolist()
    [-1, 0, 1, 1]
    """
    return mask.to(torch.int64).cumsum(-1) - 1


def gpt2_generate(mask: Bool[Tensor, "*batch n"]) -> Int[Tensor, "*batch n"]:
    """Tokens from 0, padding gets 1 (transformers' GPT-2 ``prepare_inputs_for_generation``).

    >>> gpt2_generate(torch.tensor([False, False, True, True])).tolist()
    [1, 1, 0, 1]
    """
    return counted(mask).masked_fill(~mask, 1)


def roberta(mask: Bool[Tensor, "*batch n"], padding_idx: int = 1) -> Int[Tensor, "*batch n"]:
    """Tokens from ``padding_idx + 1``, padding gets ``padding_idx``.

    fairseq's ``make_positions``, transformers' ``create_position_ids_from_input_ids``. So a table
    of 514 rows serves 512 tokens: see `capacity`.

    >>> roberta(torch.tensor([True, True, True, False])).tolist()
    [2, 3, 4, 1]
    """
    return (counted(mask) + 1) * mask + padding_idx


def bart(mask: Bool[Tensor, "*batch n"], offset: int = 2) -> Int[Tensor, "*batch n"]:
    """2, 3, 4 … for every slot, padding too (transformers' ``BartLearnedPositionalEmbedding``).

    >>> bart(torch.tensor([True, True, True, False])).tolist()
    [2, 3, 4, 5]
    """
    return (torch.arange(mask.shape[-1]) + offset).expand(mask.shape)


def opt(mask: Bool[Tensor, "*batch n"], offset: int = 2) -> Int[Tensor, "*batch n"]:
    """Tokens from 2, padding gets 1 (transformers' ``OPTLearnedPositionalEmbedding``).

    >>> opt(torch.tensor([False, False, True, True])).tolist()
    [1, 1, 2, 3]
    """
    return (counted(mask) + 1) * mask - 1 + offset


def capacity(rows: int, first: int) -> int:
    """How many tokens a table of ``rows`` rows serves when the first token gets row ``first``.

    >>> capacity(514, first=2)
    512
    """
    return rows - first


def interleaved_to_half(
    weight: Float[Tensor, "rows *columns"], num_heads: int
) -> Float[Tensor, "rows *columns"]:
    """Rows of a query or key projection (or its bias) for ``pairing="half"``, from interleaved.

    Rows are head after head. Attention scores stay the same when both q and k are converted (what
    transformers' ``convert_llama_weights_to_hf`` does to Meta's Llama weights).

    >>> interleaved_to_half(torch.arange(8.0), num_heads=2).tolist()
    [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]
    """
    # rows of one head: [a0 b0 a1 b1 …] -> [a0 a1 … | b0 b1 …]
    rows: Tensor = weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)
    return rows


def half_to_interleaved(
    weight: Float[Tensor, "rows *columns"], num_heads: int
) -> Float[Tensor, "rows *columns"]:
    """The inverse of `interleaved_to_half`.

    >>> half_to_interleaved(interleaved_to_half(torch.arange(8.0), num_heads=2), 2).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    rows: Tensor = weight.unflatten(0, (num_heads, 2, -1)).transpose(1, 2).flatten(0, 2)
    return rows
