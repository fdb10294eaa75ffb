"""A training run as pictures: the newest snapshot while it goes on, then all of them to play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pages._ui import live
from pages._ui.figures.axes import nice_ceiling
from pages._ui.figures.table import colour_range, training_figure
from pages._ui.server.kept import kept
from pages._ui.server.store import Store
from pages._ui.table.training import Progress
from pages._ui.takeaway.chart import Chart, packed
from posembed_core.training.film import Course, Film, course, film
from posembed_core.training.training import Snapshot, TrainingSpec


@dataclass(frozen=True, eq=False)
class Packs:
    """A film or a single frame of a run, ready to be sent, and its numbers."""

    film: Film
    numbers: Course
    arrays: dict[str, live.PackedArray]

    @property
    def size(self) -> int:
        """Bytes."""
        pictures = (self.film.table, self.film.similarity, self.film.attention)
        return sum(len(array.data) for array in self.arrays.values()) + sum(
            cells.nbytes for cells in pictures
        )


def show_training(progress: Progress, alt: str) -> None:
    """The newest snapshot while the run goes on, and all of them to play through when it rests."""
    take = _still if progress.goes_on else _film_of
    packs = take(progress.spec, progress.snapshots)
    chart = _chart(progress, packs, waits=progress.goes_on)
    live.plot(
        packed(chart.build, chart.shape),
        key="table.training",
        arrays=packs.arrays,
        mixes={name: {name: 1.0} for name in packs.arrays},
        lines=chart.lines,
        patch=chart.patch,
        snapshots=[f"step {step} of {progress.spec.steps}" for step in packs.numbers.steps],
        grow=["loss", "adjacent"],
        alt=alt,
    )


def training_chart(progress: Progress) -> Chart:
    """The newest snapshot, and the course of the run up to it."""
    packs = _still(progress.spec, progress.snapshots)
    shown = packs.film
    pictures = {
        "table": shown.table, "similarity": shown.similarity, "attention": shown.attention,
    }  # fmt: skip
    arrays = {name: cells[-1].numpy() for name, cells in pictures.items()}
    return replace(_chart(progress, packs, waits=True), arrays=arrays)


def _chart(progress: Progress, packs: Packs, *, waits: bool) -> Chart:
    """All but the cells; where it ``waits``, the curves leave room for the snapshots to come."""
    spec, shown = progress.spec, packs.film
    steps = [*range(0, spec.steps, spec.snapshot_every), spec.steps]
    missing = [None] * (len(steps) - len(progress.snapshots) if waits else 0)
    # So that attention to everything alike looks pale, as the little that it is.
    peak = max(float(shown.attention.max()), min(1.0, 10 / spec.max_seq_len))
    return Chart(
        training_figure,
        (tuple(steps), spec.max_seq_len, spec.embed_dim, shown.rows, shown.columns),
        lines={
            "loss": np.array([*packs.numbers.losses, *missing], dtype=float),
            "adjacent": np.array([*packs.numbers.adjacent, *missing], dtype=float),
        },
        patch={
            **colour_range("coloraxis", nice_ceiling(float(shown.table.abs().max()))),
            **colour_range("coloraxis3", nice_ceiling(peak), unsigned=True),
            "yaxis4.range": [0, nice_ceiling(max(packs.numbers.losses)) * 1.04],
        },
    )


FILMS: Store[Packs] = Store("films", lambda packs: packs.size)


# What a whole class watches is drawn once.
@kept(key=lambda spec, snapshots: (spec, len(snapshots)))
def _still(_spec: TrainingSpec, snapshots: Sequence[Snapshot]) -> Packs:
    shown = film(snapshots[-1:])
    return Packs(shown, course(snapshots), _pack(shown))


@FILMS.keep(key=lambda spec, snapshots: (spec, len(snapshots)))
def _film_of(_spec: TrainingSpec, snapshots: Sequence[Snapshot]) -> Packs:
    shown = film(snapshots)
    return Packs(shown, course(snapshots), _pack(shown))


def _pack(shown: Film) -> dict[str, live.PackedArray]:
    pictures = {
        "table": shown.table, "similarity": shown.similarity, "attention": shown.attention,
    }  # fmt: skip
    return {name: live.pack_array(cells.numpy()) for name, cells in pictures.items()}
