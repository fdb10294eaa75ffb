"""Token vectors that a seeded generator draws."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from posembed_core.seeded import seeded_normal


def random_tokens(
    seq_len: int, embed_dim: int, seed: int = 123, std: float = 0.5, skip: int = 0
) -> Float[Tensor, "seq_len embed_dim"]:
    """Normally distributed token vectors, float32, by NumPy's legacy generator.

    ``RandomState(seed)`` after ``skip`` draws, times ``std``: with the defaults the handbook's
    tokens, ``np.random.seed(123); np.random.randn(10, 64) * 0.5``. A shorter matrix is the
    beginning of a longer one.

    >>> import posembed_core as pc
    >>> pc.random_tokens(10, 64)[0, :4]
    tensor([-0.5428,  0.4987,  0.1415, -0.7531])
    """
    return seeded_normal(seq_len, embed_dim, seed, std, skip)
