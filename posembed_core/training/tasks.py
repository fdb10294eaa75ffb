"""Tasks that no model can solve without knowing where its tokens are."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

PERIOD = 8

# What each one asks for at position i of n.
TASKS = {
    "neighbourhood-average": "Which tokens are near, nearer ones counting more",
    "previous-token": "The token at i − 1 (the first position repeats its own)",
    "reversed-copy": "The token at n − 1 − i: the sequence backwards",
    "every-eighth": "Which tokens are a multiple of eight positions away",
}


def task_weights(task: str, seq_len: int, sigma: float = 3.0) -> Float[Tensor, "seq_len seq_len"]:
    """How much the answer at each position (row) depends on each token (column); rows sum to 1.

    The neighbourhood average weighs by a Gaussian of the distance, ``sigma`` positions wide.

    >>> task_weights("reversed-copy", 3).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    i, j = torch.arange(seq_len)[:, None], torch.arange(seq_len)
    weights = {
        "neighbourhood-average": torch.exp(-((i - j) ** 2) / (2 * sigma**2)),
        "previous-token": j == (i - 1).clamp(min=0),
        "reversed-copy": j == seq_len - 1 - i,
        "every-eighth": (i - j) % PERIOD == 0,
    }[task].to(torch.float32)
    return weights / weights.sum(dim=1, keepdim=True)


def token_shares(
    tokens: Int[Tensor, "batch seq_len"], weights: Float[Tensor, "seq_len seq_len"], num_tokens: int
) -> Float[Tensor, "batch seq_len num_tokens"]:
    """The answer: the share of each token type at each position, ``weights`` × one-hot tokens.

    >>> token_shares(torch.tensor([[1, 0]]), torch.eye(2), 2).tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    return weights @ torch.nn.functional.one_hot(tokens, num_tokens).to(weights.dtype)
