"""Which table row a token gets when sequences are padded: five conventions, each by its name.

Every function takes a mask (..., n) that is True for tokens and False for padding, and gives int64
rows of the same shape. They differ in where counting starts, in whether padding is counted, and in
what padding gets.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def counted(mask: Bool[Tensor, "*batch n"]) -> Int[Tensor, "*batch n"]:
    """0, 1, 2 … over the tokens of each row; -1 for padding before the first token."""
    return mask.to(torch.int64).cumsum(-1) - 1


def gpt2_generate(mask: Bool[Tensor, "*batch n"]) -> Int[Tensor, "*batch n"]:
    """Tokens from 0, padding gets 1 (transformers' GPT-2 ``prepare_inputs_for_generation``)."""
    return counted(mask).masked_fill(~mask, 1)


def roberta(mask: Bool[Tensor, "*batch n"], padding_idx: int = 1) -> Int[Tensor, "*batch n"]:
    """Tokens from ``padding_idx + 1``, padding gets ``padding_idx``.

    fairseq's ``make_positions``, transformers' ``create_position_ids_from_input_ids``. So a table
    of 514 rows serves 512 tokens: see `capacity`.
    """
    return (counted(mask) + 1) * mask + padding_idx


def bart(mask: Bool[Tensor, "*batch n"], offset: int = 2) -> Int[Tensor, "*batch n"]:
    """2, 3, 4 … for every slot, padding too (transformers' ``BartLearnedPositionalEmbedding``)."""
    return (torch.arange(mask.shape[-1]) + offset).expand(mask.shape)


def opt(mask: Bool[Tensor, "*batch n"], offset: int = 2) -> Int[Tensor, "*batch n"]:
    """Tokens from 2, padding gets 1 (transformers' ``OPTLearnedPositionalEmbedding``)."""
    return (counted(mask) + 1) * mask - 1 + offset


def capacity(rows: int, first: int) -> int:
    """How many tokens a table of ``rows`` rows serves when the first token gets row ``first``."""
    return rows - first
