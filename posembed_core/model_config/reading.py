"""A model's config, read once: the settings of each kind of layer, and what is odd about them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from posembed_core.base import RotaryEncoding
from posembed_core.model_config.blocks import ConfigError, RopeBlock, rope_blocks, text_config
from posembed_core.model_config.defaults import GLOBAL
from posembed_core.model_config.findings import (
    Finding,
    about_config,
    about_settings,
    about_type,
    finding_of,
    given_twice,
    ignored_keys,
    own_formulas,
)
from posembed_core.model_config.has import what_it_has
from posembed_core.model_config.notes import about_axes, about_sinks
from posembed_core.model_config.numbers import check_numbers, head_size
from posembed_core.model_config.settings import (
    RopeSettings,
    check_required,
    rope_class,
    settings_of,
)
from posembed_core.parameters import EncodingError, shown

_SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class LayerReading:
    """One kind of layer: its settings, or the first error in their place, and all findings.

    ``layer_type`` is "" where all layers are alike. Layers that don't rotate have an error that
    says so.
    """

    layer_type: str
    settings: RopeSettings | None
    error: EncodingError | None
    findings: tuple[Finding, ...]
    rotates: bool = True

    def checked_settings(self) -> RopeSettings:
        """The settings; raises the error where there are none."""
        if self.settings is None:
            raise self.error or RuntimeError("a layer has neither settings nor an error")
        return self.settings


@dataclass(frozen=True)
class ConfigReading:
    """All that a config says about RoPE: one entry for each kind of layer, and all findings.

    ``layers`` are in the file's order. If they can't be told apart, it is empty and ``error``
    says why. ``findings`` are about the whole file, errors first and notes last, without
    duplicates.
    """

    layers: tuple[LayerReading, ...]
    findings: tuple[Finding, ...]
    error: EncodingError | None = None

    @property
    def settings(self) -> tuple[RopeSettings, ...]:
        """Those of each kind of layer, full attention first; none if one of them has an error."""
        if any(finding.severity == "error" for finding in self.findings):
            return ()
        global_first = sorted(self.layers, key=lambda layer: layer.layer_type != GLOBAL)
        return tuple(layer.checked_settings() for layer in global_first if layer.rotates)


def rotary_from_config(config: Mapping[str, Any], layer_type: str | None = None) -> RotaryEncoding:
    """The rotary encoding of a Hugging Face ``config.json``, read as transformers 5.24 reads it.

    ``layer_type`` chooses where layers differ (Gemma 3, ModernBERT); None takes the layers with
    full attention. Raises `EncodingError` that names the key for whatever is missing, misspelt or
    impossible.

    >>> config = {"head_dim": 64, "rope_theta": 500000.0, "max_position_embeddings": 8192}
    >>> rotary_from_config(config).base
    500000.0
    >>> rotary_from_config({**config, "rope_scaling": {"type": "linear", "factor": 4}}).factor
    4.0
    """
    reading = read_rope(config)
    if reading.error is not None:
        raise reading.error
    layers = {layer.layer_type: layer for layer in reading.layers}
    if layer_type is None:
        layer_type = GLOBAL if GLOBAL in layers else next(iter(layers))
    if layer_type not in layers:
        raise EncodingError(
            f"layer_type must be one of {', '.join(filter(None, layers)) or 'none'}, "
            f"got {shown(layer_type)}",
            field="layer_type",
        )
    return layers[layer_type].checked_settings().encoding


def read_rope(config: Mapping[str, Any]) -> ConfigReading:
    """The settings and the findings of a Hugging Face config, in one pass; it never raises.

    >>> reading = read_rope({"head_dim": 64, "rope_scaling": {"type": "linear", "factor": 0.5}})
    >>> [settings.encoding.factor for settings in reading.settings]
    [0.5]
    >>> [finding.message for finding in reading.findings]
    ['factor 0.5 is below 1: it makes the pairs turn 2 times faster.']
    """
    try:
        blocks = rope_blocks(_rotating(checked(config)))
    except EncodingError as error:
        return ConfigReading((), (finding_of(error),), error)
    layers = tuple(map(_read_layer, blocks))
    # Layers share what stands beside their blocks: report it once.
    everywhere = itertools.chain(
        about_type(blocks[0].config),
        about_config(blocks[0].config),
        *(layer.findings for layer in layers),
        about_sinks(blocks[0].config),
    )
    unique = dict.fromkeys(everywhere)
    worst_first = sorted(unique, key=lambda finding: _SEVERITIES.index(finding.severity))
    return ConfigReading(layers, tuple(worst_first))


def _rotating(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The config, if it is of a model that rotates, or may be."""
    position = what_it_has(text_config(config))
    if position.has not in ("rotation", None):
        raise ConfigError(
            f"this model has no RoPE: it has {position.phrase} ({position.why})",
            field="model_type",
            reason="There is nothing to stretch or to compare with other lengths.",
        )
    return config


def _read_layer(block: RopeBlock) -> LayerReading:
    if not block.rotates:
        error = ConfigError(
            f"layers of {block.layer_type} have no RoPE: their block is null",
            field=block.path,
            reason="They see positions only through the other layers.",
        )
        return LayerReading(block.layer_type, None, error, (), rotates=False)
    errors: list[EncodingError] = []
    warnings = list(given_twice(block))
    settings: RopeSettings | None = None
    with _noted(errors):
        cls = rope_class(block)
        warnings += [*ignored_keys(block, cls), *own_formulas(block)]
        with _noted(errors):
            check_required(block, cls)
        with _noted(errors):
            check_numbers(block, cls)
        with _noted(errors):
            head = head_size(block)
        if not errors:
            complete = settings_of(block, cls, head)
            warnings += about_settings(block, complete)
            warnings += about_axes(block, complete.encoding.rotary_dim // 2)
            settings = complete
    return LayerReading(
        layer_type=block.layer_type,
        settings=settings,
        error=errors[0] if errors else None,
        findings=(*(finding_of(error, block) for error in errors), *warnings),
    )


@contextlib.contextmanager
def _noted(errors: list[EncodingError]) -> Iterator[None]:
    """Collect an `EncodingError` raised in the block, and carry on after it."""
    try:
        yield
    except EncodingError as error:
        errors.append(error)


def checked(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The config, if it is an object; raises `ConfigError` for anything else.

    >>> checked({"head_dim": 64})
    {'head_dim': 64}
    """
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"a config is an object of keys and values, got {shown(config)}",
            field="config",
            reason="The settings are read by their keys.",
        )
    return config
