"""What the table page says about tables: definitions, numbers side by side, alternative texts."""

from __future__ import annotations

from collections.abc import Sequence

from pages._ui.table.training import Progress
from posembed_core.tables.measures.analysis import Measures
from posembed_core.tables.measures.similarity import adjacent_cosine
from posembed_core.tables.position_table import PositionTable
from posembed_core.training.tasks import TASKS
from posembed_core.training.training import GradientStep

# Each measure of a table, in the order of the menu, and its definition in a sentence or two.
DEFINITIONS = {
    "norms": "The Euclidean norm of each row.",
    "similarity": (
        "The cosine of every position's row with every other's, and its mean over all pairs that "
        "lie so far apart. A zero row has no cosine: its cells are empty, and it is in no mean."
    ),
    "patches": (
        "A vision model's positions are patches: tile (r, c) shows how alike patch (r, c) is to "
        "each patch (Dosovitskiy et al. 2021, figure 7)."
    ),
    "singular values": (
        "How many directions the rows fill. The effective rank is exp(−Σ p ln p), p being the "
        "singular values divided by their sum (Roy and Vetterli 2007)."
    ),
    "waves": (
        "Each dimension as a sum of waves along the positions (Fourier transform, no window, the "
        "mean left in). The lines of a dimension sum to its mean square."
    ),
    "components": (
        "The rows less their mean, along the three directions in which they vary most (PC 1 to 3), "
        "and as a curve in space from position 0 (dark) to the last (bright): drag to turn it."
    ),
}
BEYOND = {
    "error": "No row: an error",
    "longer": "A longer table",
    "interpolated": "Interpolation",
    "formula": "A formula",
}


def training_said(progress: Progress) -> str:
    """What is trained, and what it has come to."""
    first, last = progress.snapshots[0], progress.last
    task = TASKS[progress.spec.task]
    said = (
        f"**The task**: {task[0].lower()}{task[1:]}. The table starts as noise; nothing but the "
        "gradient of the loss shapes it. "
    )
    if last.step == 0:
        return f"{said}Loss {first.loss:.3f}, {_adjacent(progress)}. **Run** trains it."
    return (
        f"{said}After {last.step} steps the loss is {last.loss:.3g} (from {first.loss:.3g}), "
        f"{_adjacent(progress)}. The picture on the right is what the head makes of the table: how "
        "much each position attends to each other where only positions speak. A table may look "
        "like noise and yet say just that."
    )


def training_alt(progress: Progress) -> str:
    """The training's pictures in one sentence."""
    return (
        f"Position table, similarity of its rows and attention at step {progress.last.step} of "
        f"{progress.spec.steps}: loss {progress.last.loss:.3g}, {_adjacent(progress)}."
    )


def _adjacent(progress: Progress) -> str:
    return f"mean cosine of adjacent rows {number(adjacent_cosine(progress.last.weight))}"


def gradient_said(lesson: GradientStep, length: int) -> str:
    """Which rows moved, and why only those."""
    low, high = int(lesson.looked_up[0]), int(lesson.looked_up[-1])
    still = lesson.grad.shape[0] - lesson.moved.numel()
    return (
        f"One sequence of {length} tokens at positions {low} to {high}, loss {lesson.loss:.3f}: "
        f"**{lesson.moved.numel()} rows moved**, exactly those that were looked up; the gradient "
        f"of the other {still} is 0. A row that no sequence reaches stays noise for ever. AdamW's "
        "first step has the size of the learning rate, against the sign of the gradient."
    )


def described(table: PositionTable) -> str:
    """What table this is, and what was recognised about it."""
    notes = "".join(f" {note[0].upper()}{note[1:]}." for note in table.notes)
    return (
        f"**{table.source}**, {table.name}: {table.max_seq_len} positions × {table.embed_dim} "
        f"dimensions.{notes}"
    )


def beyond_said(way: str, rows: int, length: int) -> str:
    """Where the rows of a stretched table come from."""
    return {
        "longer": f"Rows {rows} to {length - 1} were added at random: nothing has trained them.",
        "interpolated": (
            f"The {rows} rows stretched to {length}: each new one lies on the line between its two "
            "nearest, the first and the last stay. The model must get used to it."
        ),
        "formula": (
            f"Rows {rows} to {length - 1} come from the formula, which knows every position, but "
            "needn't fit what was learned."
        ),
    }.get(way, "")


def compared(tables: Sequence[PositionTable], measured: Sequence[Measures]) -> str:
    """The measures of tables as a Markdown table, a row for each table."""
    titles = (
        "table", "mean norm", "cosine of adjacent rows", "… mean row removed", "effective rank",
        "variance in 3 components", "distance to a sinusoid",
    )  # fmt: skip
    lines = [f"| {' | '.join(titles)} |", "|---|" + "---:|" * (len(titles) - 1)]
    for table, one in zip(tables, measured, strict=True):
        wave = one.sinusoid
        values = (
            f"**{table.source}**, {table.name}",
            f"{one.mean_norm:.3g}",
            number(one.adjacent),
            number(one.adjacent_centred),
            number(one.effective_rank, "{:.1f}"),
            f"{one.three_components:.0%}",
            "undefined" if wave is None else f"{wave.distance:.2f} (base {wave.base:g})",
        )
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines)


def number(value: float | None, pattern: str = "{:.2f}") -> str:
    """A number that there may be none of."""
    return "undefined" if value is None else pattern.format(value)


DISTANCE = (
    "The distance to a sinusoid is the part of a table that no turning, mirroring, shifting and "
    "scaling turns into a sinusoidal table of its size (Procrustes; 0 is a sinusoid). It depends "
    "on the size: compare with noise of the same size."
)
