"""Where position enters a model, layer by layer, as its config says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from posembed_core.base import Encoding
from posembed_core.model_config.beside import QueryScale, query_scale, score_scale
from posembed_core.model_config.blocks import COMPRESS, MAIN, ConfigError, text_config
from posembed_core.model_config.defaults import GLOBAL, LOCAL
from posembed_core.model_config.findings import Finding, finding_of
from posembed_core.model_config.has import Position, what_it_has
from posembed_core.model_config.layer_kinds import LayerKind, layer_kinds
from posembed_core.model_config.notes import about_sinks
from posembed_core.model_config.numbers import whole
from posembed_core.model_config.reading import ConfigReading, checked, read_rope
from posembed_core.model_config.settings import length_of
from posembed_core.parameters import EncodingError
from posembed_core.registry import create


@dataclass(frozen=True)
class AddedPositions:
    """A table that is added to the input: ``rows`` positions of ``dimensions``; None: not given.

    ``kind`` is "learned", whose values the config doesn't have, or "fixed".
    """

    kind: Literal["learned", "fixed"]
    rows: int | None
    dimensions: int | None


@dataclass(frozen=True)
class LayerPositions:
    """What position does in one layer.

    ``encoding`` is what the layer's scores or its queries and keys get, None for nothing that is
    computed here; ``window`` the tokens it looks back on, or those of a chunk, None for all or
    where the config doesn't say; ``score_scale`` what its scores are multiplied by beside 1/√d;
    ``why`` one sentence.
    """

    index: int
    encoding: Encoding | None
    kind: str
    window: int | None
    score_scale: float
    why: str
    queries: QueryScale = QueryScale()

    def query_scale(self, position: int) -> float:
        """What the query at a position, counted from 0, is multiplied by: 1 for most models."""
        return self.queries(position)


@dataclass(frozen=True)
class ModelPositions:
    """Where position enters a model.

    ``known`` says how that is known: by the model's "type", from its "config" alone, or "unknown".
    ``has`` is one sentence; ``input`` what is added to the input, or None. ``findings`` are what is
    odd about the config, errors first, and notes about what isn't.

    >>> positions_from_config({"model_type": "bloom"}).has.partition(" (")[0]
    'The model has a score bias that grows with distance'
    """

    known: Literal["type", "config", "unknown"]
    has: str
    input: AddedPositions | None
    layers: tuple[LayerPositions, ...]
    findings: tuple[Finding, ...]


def positions_from_config(config: Mapping[str, Any]) -> ModelPositions:
    """Read a model's config for what every layer does with position; nothing is made up.

    config: the keys of a Hugging Face ``config.json``, read as transformers 5.24 reads them.
    A model that nobody knows here is read from its config alone, and says so; one whose config says
    nothing about position is "unknown" and has no encoding in any layer.

    Raises `EncodingError` that names the key for what is missing, misspelt or impossible.

    >>> model = positions_from_config({"model_type": "gpt2", "n_positions": 1024, "n_layer": 2})
    >>> model.known, model.input.kind, model.input.rows, model.layers[0].encoding
    ('type', 'learned', 1024, None)
    >>> nope = {"model_type": "smollm3", "head_dim": 128, "num_hidden_layers": 4}
    >>> [bool(layer.encoding) for layer in positions_from_config(nope).layers]
    [True, True, True, False]
    """
    text, reading = text_config(checked(config)), read_rope(config)
    position = what_it_has(text)
    if position.has == "rotation":
        layers = _rotated(text, reading, position)
        findings = reading.findings
    else:
        layers = _unrotated(text, position)
        findings = (*_beside_rotation(position), *about_sinks(text))
    return ModelPositions(
        known=position.known,
        has=_sentence(position),
        input=_added(text, position),
        layers=layers,
        findings=findings,
    )


def read_positions(
    config: Mapping[str, Any],
) -> tuple[ModelPositions | None, tuple[Finding, ...]]:
    """The model and all findings; None where an error, then among them, leaves it unread.

    >>> model, findings = read_positions({"model_type": "smollm3", "no_rope_layers": [1, 1]})
    >>> model, [finding.key for finding in findings]
    (None, ['no_rope_layers'])
    """
    try:
        model = positions_from_config(config)
    except EncodingError as error:
        own, others = finding_of(error), read_rope(config).findings
        if what_it_has(text_config(config)).has not in ("rotation", None):
            return None, (own,)  # that it doesn't rotate is no fault
        return None, others if str(error) in {other.message for other in others} else (own, *others)
    return model, model.findings


def _rotated(
    text: Mapping[str, Any], reading: ConfigReading, position: Position
) -> tuple[LayerPositions, ...]:
    if reading.error is not None:
        raise reading.error
    by_kind = {
        layer.layer_type: layer.checked_settings() if layer.rotates else None
        for layer in reading.layers
    }
    layers = []
    for index, layer in enumerate(layer_kinds(text)):
        kind = _kind_of_block(layer, by_kind)
        settings = by_kind[kind] if layer.rotates else None
        why = layer.why
        if settings is None and not why:
            why = f"the block of {kind} is null: these layers don't rotate"
        layers.append(
            LayerPositions(
                index=index,
                encoding=settings.encoding if settings else None,
                kind=layer.kind,
                window=layer.window,
                score_scale=score_scale(text),
                why=why or f"{position.phrase}: {position.why}",
                queries=query_scale(text, settings is not None),
            )
        )
    return tuple(layers)


def _kind_of_block(layer: LayerKind, blocks: Mapping[str, Any]) -> str:
    """The block that a layer reads."""
    if layer.kind in blocks:
        return layer.kind
    if MAIN in blocks:
        return MAIN if layer.kind == LOCAL else COMPRESS
    for kind in ("", GLOBAL):
        if kind in blocks:
            return kind
    return next(iter(blocks))


def _unrotated(text: Mapping[str, Any], position: Position) -> tuple[LayerPositions, ...]:
    encoding = _score_encoding(text, position)
    return tuple(
        LayerPositions(
            index=index,
            encoding=encoding,
            kind=layer.kind,
            window=layer.window,
            score_scale=1.0,
            why=f"{position.phrase}: {position.why}",
        )
        for index, layer in enumerate(layer_kinds(text))
    )


def _score_encoding(text: Mapping[str, Any], position: Position) -> Encoding | None:
    """What enters the scores, where the config gives its sizes."""
    heads = text.get("num_attention_heads", text.get("num_heads"))
    if heads is None:
        return None
    try:
        if position.has == "alibi":
            return create("alibi", num_heads=whole("num_attention_heads", heads))
        if position.has == "buckets":
            return create(
                "t5",
                num_heads=whole("num_heads", heads),
                num_buckets=text.get("relative_attention_num_buckets", 32),
                max_distance=text.get("relative_attention_max_distance", 128),
            )
    except EncodingError as error:
        if isinstance(error, ConfigError):
            raise
    return None


def _sentence(position: Position) -> str:
    if position.has is None:
        return f"What the model does with position isn't known: {position.why}."
    return f"The model has {position.phrase} ({position.why})."


def _added(text: Mapping[str, Any], position: Position) -> AddedPositions | None:
    if position.has in ("learned", "fixed"):
        width = text.get("hidden_size", text.get("d_model"))
        return AddedPositions(
            position.has, length_of(text), None if width is None else whole("hidden_size", width)
        )
    return None


def _beside_rotation(position: Position) -> tuple[Finding, ...]:
    """For a model without a rotation: that it has none is no finding, but that nobody knows is."""
    if position.has is not None:
        return ()
    error = ConfigError(position.why, field="model_type", reason="Nothing is made up for it.")
    return (finding_of(error),)
