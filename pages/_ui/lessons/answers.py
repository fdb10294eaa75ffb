"""What a lesson's question can ask for: each quantity is computed by the core when it is shown.

A quantity is a function of the step's settings, as its link holds them, and of the arguments in the
lesson's file; `QUANTITIES` lists them by page, and ``lessons/README.md`` for teachers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from pages._ui.attention.inputs import Scene, column, inputs, shifted, shuffled
from pages._ui.attention.settings import FIELDS, OF_VIEWS
from pages._ui.combine.settings import read_link
from pages._ui.controls.fields import read_fields
from pages._ui.lessons.files import LessonError, Step
from pages._ui.server.kept import kept
from pages._ui.server.pictures import picture
from posembed_core import TrainingSpec, train_table
from posembed_core.base import Encoding
from posembed_core.combination import concat_identity
from posembed_core.operations import Combined
from posembed_core.tables.measures.similarity import adjacent_cosine

Params = Mapping[str, str]
Term = Literal["token", "position", "combined"]


def compute(step: Step, answer: Mapping[str, Any]) -> float:
    """The value of a question's answer for a step's settings.

    Raises `LessonError` for a quantity that the step's page doesn't have, or wrong arguments.
    """
    arguments = dict(answer)
    name = arguments.pop("is")
    known = QUANTITIES.get(step.page, {})
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise LessonError(f"the page {step.page} has the quantities {listed}, not {name!r}")
    try:
        return float(known[name](step.params, **arguments))
    except TypeError as error:
        raise LessonError(f"{name}: {error}") from None


def norm(params: Params, of: Term, at: int) -> float:
    """‖e‖, ‖s·p‖ or ‖h‖ of the vector at position ``at``."""
    return float(getattr(_exact(params, at).norms(), of)[0])


def norm_ratio(params: Params, at: int) -> float:
    """‖s·p‖ / ‖e‖ at position ``at``."""
    return norm(params, "position", at) / norm(params, "token", at)


def norm_change(params: Params, at: int) -> float:
    """How far ‖h‖ is from ‖e‖ at position ``at``, without its sign."""
    return abs(norm(params, "combined", at) - norm(params, "token", at))


def value(params: Params, of: Term, at: int, channel: int) -> float:
    """The number in a cell of e, s·p or h."""
    return float(_vector(_exact(params, at), of)[channel])


def cosine(params: Params, a: int, b: int) -> float:
    """The cosine of the angle between the position vectors of a and b."""
    first, second = (_vector(_exact(params, at), "position") for at in (a, b))
    return float(torch.nn.functional.cosine_similarity(first, second, dim=0))


def difference(params: Params, at: int, other: Mapping[str, str]) -> float:
    """‖h − h'‖ at position ``at``, where h' has ``other`` settings besides."""
    h, changed = (_exact(link, at).combined[0].double() for link in (params, {**params, **other}))
    return float((h - changed).norm())


def width(params: Params, at: int = 0) -> float:
    """How many channels h has."""
    return float(_exact(params, at).combined.shape[1])


def weights_saved(params: Params, out: int) -> float:
    """Weights of a projection of [e; s·p] to ``out`` channels, less those of one of e + s·p."""
    first = _exact({**params, "operation": "concat"}, 0)
    same = concat_identity(first.token, first.moved, out=out)
    return float(same.concat_parameters - same.add_parameters)


def positions_a_turn(params: Params, pair: int) -> float:
    """After how many positions the sine and cosine of a pair come back: 2π / ω, pairs from 0 on."""
    encoding = read_link(params)[0].encoding
    waves = getattr(encoding, "wave_frequencies", None)
    if waves is None:
        raise LessonError("positions_a_turn needs an encoding of sines and cosines")
    if not 0 <= pair < len(waves):
        raise LessonError(f"positions_a_turn needs a pair from 0 to {len(waves) - 1}, got {pair}")
    return 2 * math.pi / float(waves[pair])


def shuffle_error(params: Params, encoding: str) -> float:
    """The greatest difference that shuffling the words makes to an attention layer's outputs."""
    scene, compared = _scene(params), _column(params, encoding)
    seed = read_fields(OF_VIEWS, params)["shuffle"]
    return shuffled(scene, compared, seed, 1.0, False, 1.0).maximum


def shift_error(params: Params, encoding: str) -> float:
    """The greatest change of a score when all positions move by ``shift``."""
    by = read_fields(OF_VIEWS, params)["shift"]
    return shifted(_scene(params), _column(params, encoding), by, 1.0).maximum


def neighbours_alike(params: Params, steps: int) -> float:
    """The mean cosine of neighbouring rows of the table after so many training steps."""
    fields = {
        name: parameter.parse(name, params[name])
        for name, parameter in TrainingSpec.parameters().items()
        if name in params
    }
    spec = TrainingSpec(**{**fields, "steps": max(steps, 1)})
    mean = adjacent_cosine(_trained(spec, steps))
    if mean is None:
        raise LessonError("neighbours_alike needs rows that are not zero")
    return mean


QUANTITIES: Mapping[str, Mapping[str, Callable[..., float]]] = {
    "combine": {
        quantity.__name__: quantity
        for quantity in (
            norm, norm_ratio, norm_change, value, cosine, difference, width, weights_saved,
            positions_a_turn,
        )
    },
    "attention": {quantity.__name__: quantity for quantity in (shuffle_error, shift_error)},
    "table": {neighbours_alike.__name__: neighbours_alike},
}  # fmt: skip


def _exact(params: Params, at: int) -> Combined:
    setting, scale = read_link(params)
    return picture(setting).preview.at(scale).row(at)


def _vector(row: Combined, of: Term) -> Tensor:
    return {"token": row.token, "position": row.moved, "combined": row.combined}[of][0]


def _scene(params: Params) -> Scene:
    """The attention page's sentence, as seeded random vectors."""
    values = read_fields(FIELDS, params)
    return Scene(False, values["text"], values["seed"], values["sqrt_dim"])


def _column(params: Params, slug: str) -> Encoding:
    return column(slug, {}, inputs(_scene(params)).projections)


@kept()
def _trained(spec: TrainingSpec, steps: int) -> Tensor:
    return next(shot for shot in train_table(spec) if shot.step >= steps).weight
