"""A real model's query, key and value weights, read from its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from posembed_core.attention.layer import Projections
from posembed_core.tables.position_table import CheckpointError
from posembed_core.tokens.sentence_model import FILES


def read_projections(folder: Path, layer: int = 0) -> Projections:
    """The attention weights of one layer of a BERT- or GPT-2-like model, float32.

    ``folder`` has a ``config.json`` and a ``model.safetensors``; only this layer's tensors are
    read. With them, ``attend(model.embed(sentence), model.positions, projections,
    layer_norm=model.layer_norm)`` is the first layer of a BERT as it really computes. (A GPT-2
    normalises again inside the layer: pass that LayerNorm instead.)

    Raises `CheckpointError` where a file can't be read or has no such layer.

    >>> from tempfile import TemporaryDirectory
    >>> from safetensors.torch import save_file
    >>> name = "h.0.attn.c_attn"
    >>> weights = {f"{name}.weight": torch.zeros(8, 24), f"{name}.bias": torch.zeros(24)}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "config.json").write_text('{"n_head": 2}')
    ...     save_file(weights, Path(folder, "model.safetensors"))
    ...     read_projections(Path(folder)).query.shape  # (num_heads, head_dim, embed_dim)
    torch.Size([2, 4, 8])
    """
    config_file, weights_file = folder / FILES[0], folder / FILES[2]
    try:
        config = json.loads(config_file.read_text(encoding="utf-8"))
        heads = int(config.get("num_attention_heads") or config["n_head"])
        with safe_open(weights_file, "pt") as file:
            return _bert(file, layer, heads) or _gpt2(file, layer, heads) or _none(folder, layer)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        if isinstance(error, CheckpointError):
            raise
        message = f"the attention weights in {folder.name!r} can't be read: {error}"
        raise CheckpointError(message) from error


def _none(folder: Path, layer: int) -> Projections:
    raise CheckpointError(
        f"the model in {folder.name!r} has no attention layer {layer} as BERT or GPT-2 would have "
        "(encoder.layer.N.attention.self, or h.N.attn); try layer 0"
    )


def _bert(file: Any, layer: int, heads: int) -> Projections | None:
    # (out, in), as torch.nn.Linear keeps it
    parts = [
        _tensor(file, f"layer.{layer}.attention.self.{part}.{kind}")
        for kind in ("weight", "bias")
        for part in ("query", "key", "value")
    ]
    if any(part is None for part in parts):
        return None
    return Projections(*(_by_head(part, heads) for part in parts if part is not None))


def _gpt2(file: Any, layer: int, heads: int) -> Projections | None:
    # (in, 3 out), one matrix for query, key and value
    weight = _tensor(file, f"h.{layer}.attn.c_attn.weight")
    bias = _tensor(file, f"h.{layer}.attn.c_attn.bias")
    if weight is None or bias is None:
        return None
    return Projections(*(_by_head(part, heads) for part in (*weight.T.chunk(3), *bias.chunk(3))))


def _by_head(rows: Float[Tensor, "rows *columns"], heads: int) -> Float[Tensor, "heads ..."]:
    return rows.reshape(heads, -1, *rows.shape[1:]).contiguous()


def _tensor(file: Any, ending: str) -> Tensor | None:
    # Checkpoints differ in what they put before the name: nothing, "bert.encoder.", "transformer."
    for name in sorted(file.keys(), key=len):
        if name == ending or name.endswith(f".{ending}"):
            weight: Tensor = file.get_tensor(name)
            return weight.to(torch.float32)
    return None
