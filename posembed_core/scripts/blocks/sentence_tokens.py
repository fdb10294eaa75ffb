"""Token vectors e: a real model's rows for the words of a sentence."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

folder, text, has_segments, sqrt_dim = "model", "A sentence.", True, False
most_tokens, is_cut = 128, False

# ---
# The folder has the model's own tokenizer.json and model.safetensors.
tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
tokenizer.no_truncation()
tokenizer.no_padding()
weights = load_file(Path(folder) / "model.safetensors")


def weight(*endings: str) -> torch.Tensor:
    return next(w.float() for name, w in weights.items() if name.endswith(endings))


ids = tokenizer.encode(text).ids
if is_cut:
    ids = ids[:most_tokens]
seq_len = len(ids)
e = weight("word_embeddings.weight", "wte.weight")[ids]
if has_segments:
    e = e + weight("token_type_embeddings.weight")[0]
if sqrt_dim:
    e = e * e.shape[1] ** 0.5
