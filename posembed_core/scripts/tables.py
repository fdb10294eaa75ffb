"""Scripts about a position table: its training, one row's lookup, one step, its measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from posembed_core.base import AdditiveEncoding
from posembed_core.scripts.values import PROMISE, given_fields, heading_of, recipe_of
from posembed_core.scripts.writer import Given, Part, write
from posembed_core.tables.measures.sinusoid_fit import SinusoidFit
from posembed_core.training.training import TrainingSpec

_TRAINING = "blocks/training"
_LOOKUP = "blocks/lookup"
_MEASURES = "blocks/measures"
_KINDS = ("npy", "npz", "safetensors")


@dataclass(frozen=True)
class StoredTable:
    """A table in a file, which the script reads by its name.

    ``file`` is the name (or the path from where the script runs), ``tensor`` that of the tensor in
    it; its first ``offset`` rows belong to no position. The name's ending says the format: .npy,
    .npz, .safetensors, otherwise torch.save's format.
    """

    file: str
    tensor: str
    offset: int = 0


@dataclass(frozen=True)
class ModelTable:
    """The table of a model whose folder has a ``model.safetensors``, built like BERT or GPT-2."""

    folder: str
    offset: int = 0


@dataclass(frozen=True)
class TrainedTable:
    """The table after ``step`` steps of a training run; 0 is the noise before it."""

    spec: TrainingSpec
    step: int


@dataclass(frozen=True)
class FormulaTable:
    """The first ``length`` vectors of an encoding; those of ``learned`` are noise."""

    encoding: AdditiveEncoding
    length: int


TableSource = StoredTable | ModelTable | TrainedTable | FormulaTable


def training_script(spec: TrainingSpec, step: int | None = None) -> str:
    """The script of `posembed_core.training.training.train_table`: the same table, and its losses.

    ``step`` is where it ends, by default after all steps.

    >>> "AdamW" in training_script(TrainingSpec(steps=8))
    True
    """
    parts = [Part(_TRAINING, ("", "model", "train", "trained", "show"))]
    title = f"A position table, trained from noise: {spec.task}. {PROMISE}"
    return write(title, parts, _training(spec, spec.steps if step is None else step))


def gradient_script(spec: TrainingSpec, start: int, at: Sequence[int]) -> str:
    """The script of `posembed_core.training.training.gradient_step`; it prints the rows ``at``.

    >>> "backward" in gradient_script(TrainingSpec(seq_len=8), 0, [0])
    True
    """
    given = _training(spec, 1) | {
        "start": Given(start, "the position of the first token"),
        "at": Given(list(at), "the rows to print"),
    }
    title = f"One step of training, on one sequence of {spec.length} tokens. {PROMISE}"
    return write(title, [Part(_TRAINING, ("", "model", "step"))], given)


def lookup_script(
    source: TableSource,
    position: int,
    *,
    way: str = "error",
    length: int = 0,
    formula: AdditiveEncoding | None = None,
) -> str:
    """The script that prints one row of a table, made ``length`` rows long in some ``way``.

    ``way`` is one of error (no row beyond the end), longer, interpolated, formula, as in
    `posembed_core.tables.extension`; ``formula`` gives the rows of the last one.

    >>> "position = 3" in lookup_script(StoredTable("a.npy", "array"), 3)
    True
    """
    parts, given = _table(source)
    if way in {"longer", "interpolated"}:
        parts.append(Part(_LOOKUP, (way,)))
    elif way == "formula" and formula is not None:
        given = {**given_fields(formula, length), **given}
        parts += [Part(_LOOKUP, ("known",)), *_vectors(formula), Part(_LOOKUP, ("joined",))]
    given = {
        **given,
        "length": Given(length, "rows wanted"),
        "position": Given(position, "the row to look up"),
    }
    title = f"One row of a position table. {PROMISE}"
    return write(title, [*parts, Part(_LOOKUP, ("show",))], given)


def measures_script(source: TableSource, which: str = "", fit: SinusoidFit | None = None) -> str:
    """The script of `tables.measures.analysis.measure`, and of the measure called ``which``.

    ``fit`` is the sinusoid whose distance is printed; none without it.

    >>> "a.npy" in measures_script(StoredTable("a.npy", "array"))
    True
    """
    parts, given = _table(source)
    title = f"Measures of a position table. {PROMISE}"
    sections = [""]
    if fit is not None:
        slowest = ", slowest wave 1/base" if fit.spacing == "i/(half - 1)" else ""
        sections.append(f"sinusoid{slowest}")
        given = {
            **given,
            "nearest_base": Given(fit.base, "of the nearest sinusoid, found by a search"),
        }
    return write(title, [*parts, Part(_MEASURES, (*sections, *([which] if which else [])))], given)


def _table(source: TableSource) -> tuple[list[Part], Mapping[str, Given]]:
    """The parts that make p, the table's rows that belong to positions."""
    if isinstance(source, TrainedTable):
        spec = replace(source.spec, snapshot_every=source.spec.steps)
        trained = ("model", "train", "trained") if source.step > 0 else ()
        return [Part(_TRAINING, ("", *trained))], _training(spec, source.step)
    if isinstance(source, FormulaTable):
        given = {
            "seq_len": Given(source.length, "positions"),
            **given_fields(source.encoding, source.length),
        }
        return _vectors(source.encoding), given
    if isinstance(source, ModelTable):
        given = {"folder": Given(source.folder), "offset": Given(source.offset)}
        return [Part("blocks/stored_table", ("model", "rows"))], given
    kind = PurePath(source.file).suffix.lower().removeprefix(".")
    kind = kind if kind in _KINDS else "pt"
    sections = ("flat", "", "rows") if kind == "pt" else ("", "rows")
    return [Part("blocks/stored_table", sections)], {
        "file": Given(source.file),
        "tensor": Given(source.tensor),
        "offset": Given(source.offset),
        "kind": Given(kind),
    }


def _vectors(encoding: AdditiveEncoding) -> list[Part]:
    return [
        Part("blocks/additive", ("positions",)),
        Part(recipe_of(encoding), ("",), heading_of(encoding)),
    ]


def _training(spec: TrainingSpec, steps: int) -> dict[str, Given]:
    given = {
        name: Given(
            spec.length if name == "seq_len" else getattr(spec, name), parameter.label.lower()
        )
        for name, parameter in spec.parameters().items()
    }
    return given | {"start": Given(0), "steps": Given(steps, "steps")}
