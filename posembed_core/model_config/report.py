"""What every layer of a model does with position, for programs and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from posembed_core.base import RotaryEncoding
from posembed_core.model_config.findings import Finding, in_text
from posembed_core.model_config.layer_kinds import CHUNKED
from posembed_core.model_config.positions import LayerPositions, ModelPositions


def model_report(model: ModelPositions) -> dict[str, Any]:
    """The model's positions as JSON can hold them, one entry for each way of treating position.

    >>> from posembed_core.model_config import positions_from_config
    >>> model = positions_from_config({"model_type": "smollm3", "num_hidden_layers": 8})
    >>> [kind["layers"] for kind in model_report(model)["layers"]]
    ['0–2, 4–6', '3, 7']
    """
    return {
        "known": model.known,
        "has": model.has,
        "input": vars(model.input) if model.input else None,
        "layers": [{"layers": _ranges(indices), **kind} for kind, indices in _kinds(model)],
    }


def layer_lines(report: dict[str, Any]) -> list[str]:
    """What a `model_report` says, in lines.

    >>> from posembed_core.model_config import positions_from_config
    >>> model = positions_from_config({"model_type": "gpt2", "n_layer": 12})
    >>> layer_lines(model_report(model))[1:]
    ['Added to the input: the learned table, ? × ?.', 'Layers 0–11 (full_attention): no encoding.']
    """
    lines = [report["has"]]
    if report["input"]:
        size = " × ".join(
            "?" if number is None else f"{number:,}"
            for number in (report["input"]["rows"], report["input"]["dimensions"])
        )
        lines.append(f"Added to the input: the {report['input']['kind']} table, {size}.")
    return lines + list(map(_line, report["layers"]))


def report_text(model: ModelPositions | None, findings: Sequence[Finding]) -> str:
    """What is known of the model, if it could be read, and the findings.

    >>> report_text(None, ())
    'Nothing odd was found in the config.'
    """
    lines = layer_lines(model_report(model)) if model else []
    return "\n".join([*lines, in_text(findings)])


def _kinds(model: ModelPositions) -> list[tuple[dict[str, Any], list[int]]]:
    """Each way of treating position, and the layers that do so."""
    kinds: list[tuple[dict[str, Any], list[int]]] = []
    for layer in model.layers:
        described = _described(layer)
        same = next((indices for kind, indices in kinds if kind == described), None)
        if same is None:
            kinds.append((described, [layer.index]))
        else:
            same.append(layer.index)
    return kinds


def _described(layer: LayerPositions) -> dict[str, Any]:
    encoding = layer.encoding
    described: dict[str, Any] = {
        "kind": layer.kind,
        "encoding": encoding.title if encoding else None,
        "window": layer.window,
        "query_scale": vars(layer.queries) if layer.queries.kind else None,
        "score_scale": layer.score_scale,
        "why": layer.why,
    }
    if isinstance(encoding, RotaryEncoding):
        described |= {
            "base": encoding.base,
            "rotated_dimensions": encoding.rotary_dim,
            "head_dim": encoding.head_dim,
            "pairing": encoding.pairing,
        }
    return described


def _line(kind: dict[str, Any]) -> str:
    what = kind["encoding"] or "no encoding"
    if "base" in kind:
        what += (
            f", base {kind['base']:,.10g}, {kind['rotated_dimensions']} of {kind['head_dim']} "
            f"dimensions, pairs {kind['pairing']}"
        )
    local = "chunks of" if kind["kind"] == CHUNKED else "window"
    window = f", {local} {kind['window']:,}" if kind["window"] else ""
    queries = ", queries scaled by position" if kind["query_scale"] else ""
    scale = f", scores × {kind['score_scale']:.6g}" if kind["score_scale"] != 1 else ""
    return f"Layers {kind['layers']} ({kind['kind']}): {what}{window}{queries}{scale}."


def _ranges(indices: Sequence[int]) -> str:
    """Layers as one writes them: "0–2, 4"."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ", ".join(f"{first}–{last}" if first < last else f"{first}" for first, last in runs)
