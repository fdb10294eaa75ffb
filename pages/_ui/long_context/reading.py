"""A config as the page about long contexts reads it: its layers, in groups that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pages._ui.sentences import plain_sentence
from pages._ui.server.kept import kept
from posembed_core import EncodingError, ModelPositions
from posembed_core.model_config import (
    Finding,
    LayerPositions,
    RopeSettings,
    read_config,
    read_rope,
)
from posembed_core.model_config.blocks import text_config
from posembed_core.model_config.has import Position, what_it_has
from posembed_core.model_config.positions import read_positions

GLOBAL = "full_attention"
_COUNTS = ("num_hidden_layers", "layer_types")


@dataclass(frozen=True)
class Group:
    """Layers that do the same with position; ``settings`` are None for layers that don't rotate.

    ``name`` is what a link calls them, ``words`` what the menu does: their kind, with more where
    other groups have that kind too.
    """

    name: str
    words: str
    layers: tuple[LayerPositions, ...]
    settings: RopeSettings | None

    @property
    def example(self) -> LayerPositions:
        """The first of the layers; the others differ in their index alone."""
        return self.layers[0]


@dataclass(frozen=True)
class Reading:
    """A config's text, what it says, and what is odd about it.

    ``model`` is None where there is an error; ``position`` is what the model has, by its type;
    ``counts_layers`` is whether the config says how many layers there are.
    """

    text: str | bytes
    findings: Sequence[Finding]
    model: ModelPositions | None = None
    groups: tuple[Group, ...] = ()
    position: Position | None = None
    counts_layers: bool = True

    @property
    def has_no_rope(self) -> bool:
        """Whether the config could be read and its model has something else, or nothing known."""
        return self.position is not None and self.position.has != "rotation"


@kept()
def reading_of(text: str | bytes) -> Reading:
    """Read the text of a config; what stops that is a finding."""
    try:
        config = read_config(text)
    except EncodingError as error:
        reason = "The settings are read from the text of a config.json."
        return Reading(text, (Finding("error", "", plain_sentence(error), reason),))
    model, findings = read_positions(config)
    if model is None:
        return Reading(text, findings)
    text_part = text_config(config)
    position = what_it_has(text_part)
    if position.has != "rotation":  # that is said in words of its own
        findings = tuple(finding for finding in findings if finding.key != "model_type")
    counts_layers = any(text_part.get(key) is not None for key in _COUNTS)
    groups = _groups(model.layers, read_rope(config).settings)
    return Reading(text, findings, model, groups, position, counts_layers)


def _groups(
    layers: Sequence[LayerPositions], settings: Sequence[RopeSettings]
) -> tuple[Group, ...]:
    """The layers by what they do, those that rotate and see all tokens first."""
    alike: dict[object, list[LayerPositions]] = {}
    for layer in layers:
        what = (layer.kind, layer.window, layer.encoding, layer.score_scale, layer.queries)
        alike.setdefault(what, []).append(layer)
    groups: list[Group] = []
    for members in alike.values():
        layer = members[0]
        own = sorted(
            (kind for kind in settings if kind.encoding == layer.encoding),
            key=lambda kind: kind.layer_type != layer.kind,
        )
        name, called = layer.kind, layer.kind.replace("_", " ")
        if layer.encoding is None:
            name, called = f"{name}-no-rope", f"{called}, no rotation"
        if namesakes := [group for group in groups if group.words.partition(" (")[0] == called]:
            number = len(namesakes) + 1
            name, called = f"{name}-{number}", f"{called} ({number})"
        groups.append(Group(name, called, tuple(members), own[0] if own else None))
    return tuple(
        sorted(groups, key=lambda group: (group.settings is None, group.example.kind != GLOBAL))
    )
