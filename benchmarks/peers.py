"""The same computations in other libraries, as functions without arguments."""

from __future__ import annotations

import torch
from positional_encodings.torch_encodings import PositionalEncoding1D
from rotary_embedding_torch import RotaryEmbedding
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from x_transformers import x_transformers as xt

from benchmarks.timing import Work


def tables(length: int, dim: int) -> dict[str, Work]:
    """Sinusoidal tables (length, dim); each computes it anew, as ours does."""
    like = torch.empty(1, length, dim)
    ones = PositionalEncoding1D(dim)
    scaled = xt.ScaledSinusoidalEmbedding(dim)

    def positional_encodings() -> Tensor:
        ones.cached_penc = None
        return ones(like)

    return {
        "positional-encodings": positional_encodings,
        "x-transformers": lambda: scaled(like),
        "transformers": lambda: M2M100SinusoidalPositionalEmbedding.get_embedding(length, dim),
    }


def rotations(q: Tensor, k: Tensor) -> dict[str, dict[str, Work]]:
    """Rotations of both (batch, heads, length, dim) by the pairs' layout, angles included."""
    _, heads, length, dim = q.shape
    positions = torch.arange(length)[None]
    config = LlamaConfig(hidden_size=heads * dim, num_attention_heads=heads, head_dim=dim)
    llama = LlamaRotaryEmbedding(config)
    rotary = RotaryEmbedding(dim, cache_if_possible=False)
    keeping = RotaryEmbedding(dim, cache_if_possible=True, cache_max_seq_len=length)
    other = xt.RotaryEmbedding(dim)

    def x_transformers() -> list[Tensor]:
        angles = other.forward_from_seq_len(length)[0]
        return [xt.apply_rotary_pos_emb(x, angles) for x in (q, k)]

    return {
        "half": {"transformers": lambda: apply_rotary_pos_emb(q, k, *llama(q, positions))},
        "interleaved": {
            "rotary-embedding-torch": lambda: [rotary.rotate_queries_or_keys(x) for x in (q, k)],
            "rotary-embedding-torch, angles kept": lambda: [
                keeping.rotate_queries_or_keys(x) for x in (q, k)
            ],
            "x-transformers": x_transformers,
        },
    }


def sums(tokens: Tensor) -> dict[str, Work]:
    """Tokens (length, dim) plus their positions, with the scale that each supports (1 in most)."""
    dim, batch = tokens.shape[1], tokens[None]
    ones, scaled = PositionalEncoding1D(dim), xt.ScaledSinusoidalEmbedding(dim)

    def positional_encodings() -> Tensor:
        ones.cached_penc = None
        return batch + 0.5 * ones(batch)

    return {
        "positional-encodings": positional_encodings,
        "x-transformers": lambda: batch + scaled(batch),
    }


def norms(*matrices: Tensor) -> dict[str, Work]:
    """Euclidean norms of all rows; no such library offers any, so torch's own."""
    return {
        "torch.linalg.norm, float32": lambda: [torch.linalg.norm(m, dim=1) for m in matrices],
        "torch.linalg.norm, float64": lambda: [
            torch.linalg.norm(m.double(), dim=1) for m in matrices
        ],
    }
