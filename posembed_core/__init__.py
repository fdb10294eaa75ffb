"""Posembed's core: how a Transformer learns where a word is, in numbers that can be checked."""

# First: importing this package binds `encodings`, which the function imported below must rebind.
import posembed_core.encodings  # noqa: F401
from posembed_core import conventions
from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    RelativeEncoding,
    RotaryEncoding,
)
from posembed_core.combination import combine
from posembed_core.model_config import ModelPositions, positions_from_config, rotary_from_config
from posembed_core.operations import Combined, LayerNorm
from posembed_core.parameters import EncodingError
from posembed_core.registry import create, encodings, register
from posembed_core.tables.files.checkpoints import CheckpointError, PositionTable, load_table
from posembed_core.tokens.random_tokens import random_tokens
from posembed_core.training.training import TrainingSpec, train_table

__version__ = "0.1.0"

__all__ = [
    "AdditiveEncoding",
    "BiasEncoding",
    "CheckpointError",
    "Combined",
    "Encoding",
    "EncodingError",
    "LayerNorm",
    "ModelPositions",
    "PositionTable",
    "RelativeEncoding",
    "RotaryEncoding",
    "TrainingSpec",
    "combine",
    "conventions",
    "create",
    "encodings",
    "load_table",
    "positions_from_config",
    "random_tokens",
    "register",
    "rotary_from_config",
    "train_table",
]
