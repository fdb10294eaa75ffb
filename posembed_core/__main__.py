"""`python -m posembed_core config.json`: what a model's config says about position, in a shell.

Prints how it is known, what is added to the input, each kind of layer and all findings; with
``--json`` the same for programs. "-" reads standard input. Status 0: nothing is wrong; 1: a
finding is an error; 2: the file can't be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from posembed_core.base import RotaryEncoding
from posembed_core.model_config import (
    Finding,
    LayerPositions,
    ModelPositions,
    positions_from_config,
    read_config,
    read_rope,
)
from posembed_core.model_config.findings import in_text
from posembed_core.model_config.layer_kinds import CHUNKED
from posembed_core.model_config.text import MAX_BYTES
from posembed_core.parameters import EncodingError

WRONG, UNREADABLE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Read one config, print its report, and return the status.

    >>> main(["nowhere.json"])  # and says on standard error that there is no such file
    2
    """
    parser = argparse.ArgumentParser(prog="python -m posembed_core", description=__doc__)
    parser.add_argument("config", help="a config.json, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    asked = parser.parse_args(arguments)
    try:
        config = read_config(_bytes(asked.config))
    except (OSError, EncodingError) as error:
        sys.stderr.write(f"{asked.config}: {error}\n")
        return UNREADABLE
    try:
        model = positions_from_config(config)
        findings, report = model.findings, _report(model)
    except EncodingError:
        findings, report = read_rope(config).findings, {}
    report["findings"] = [vars(finding) for finding in findings]
    shown = json.dumps(report, indent=2) if asked.json else _text(report, findings)
    sys.stdout.write(f"{shown}\n")
    return WRONG if any(finding.severity == "error" for finding in findings) else 0


def _bytes(name: str) -> bytes:
    """The file, as far as it may be read: one byte more says that it is too large."""
    if name == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _report(model: ModelPositions) -> dict[str, Any]:
    return {
        "known": model.known,
        "has": model.has,
        "input": vars(model.input) if model.input else None,
        "layers": [{"layers": _ranges(indices), **kind} for kind, indices in _kinds(model)],
    }


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


def _ranges(indices: Sequence[int]) -> str:
    """Layers as one writes them: "0–2, 4"."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ", ".join(f"{first}–{last}" if first < last else f"{first}" for first, last in runs)


def _text(report: dict[str, Any], findings: Sequence[Finding]) -> str:
    lines = [report["has"]] if "has" in report else []
    if report.get("input"):
        size = " × ".join(
            "?" if number is None else f"{number:,}"
            for number in (report["input"]["rows"], report["input"]["dimensions"])
        )
        lines.append(f"Added to the input: the {report['input']['kind']} table, {size}.")
    for kind in report.get("layers", ()):
        what = kind["encoding"] or "no encoding"
        if "base" in kind:
            what += (
                f", base {kind['base']:,.10g}, {kind['rotated_dimensions']} of {kind['head_dim']} "
                f"dimensions, pairs {kind['pairing']}"
            )
        local = "chunks of" if kind["kind"] == CHUNKED else "window"
        window = f", {local} {kind['window']:,}" if kind["window"] else ""
        scale = f", scores × {kind['score_scale']:.6g}" if kind["score_scale"] != 1 else ""
        lines.append(f"Layers {kind['layers']} ({kind['kind']}): {what}{window}{scale}.")
    return "\n".join([*lines, in_text(findings)])


if __name__ == "__main__":
    sys.exit(main())
