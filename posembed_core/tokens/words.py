"""A sentence without a model: words split at spaces, and a random vector for each of them."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from posembed_core.tokens.random_tokens import random_tokens
from posembed_core.tokens.sentence_model import Sentence


def split_words(text: str) -> Sentence:
    """The words of a text in lower case; equal words share an id, counted by first occurrence.

    >>> split_words("The dog  bites.")
    Sentence(ids=(0, 1, 2), tokens=('the', 'dog', 'bites.'), special=())
    """
    words = tuple(text.lower().split())
    ids = {word: index for index, word in enumerate(dict.fromkeys(words))}
    return Sentence(tuple(ids[word] for word in words), words)


def word_vectors(
    sentence: Sentence, embed_dim: int, seed: int = 123, std: float = 1.0
) -> Float[Tensor, "n embed_dim"]:
    """Normal draws with deviation ``std``, float32, the same vector wherever a word stands.

    >>> dog, man, again = word_vectors(split_words("dog man dog"), 4)
    >>> torch.equal(dog, again), torch.equal(dog, man)
    (True, False)
    """
    drawn = random_tokens(max(sentence.ids, default=-1) + 1, embed_dim, seed=seed, std=std)
    return drawn[torch.tensor(sentence.ids, dtype=torch.int64)]
