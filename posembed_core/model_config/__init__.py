"""A model's config, read for what it says about position."""

from posembed_core.model_config.blocks import ConfigError
from posembed_core.model_config.findings import Finding
from posembed_core.model_config.known import known_configs
from posembed_core.model_config.positions import (
    LayerPositions,
    ModelPositions,
    positions_from_config,
)
from posembed_core.model_config.reading import (
    ConfigReading,
    LayerReading,
    read_rope,
    rotary_from_config,
)
from posembed_core.model_config.settings import RopeSettings
from posembed_core.model_config.text import PythonDictError, read_config

__all__ = [
    "ConfigError",
    "ConfigReading",
    "Finding",
    "LayerPositions",
    "LayerReading",
    "ModelPositions",
    "PythonDictError",
    "RopeSettings",
    "known_configs",
    "positions_from_config",
    "read_config",
    "read_rope",
    "rotary_from_config",
]
