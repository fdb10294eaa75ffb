"""What the table page says about tables: definitions, numbers side by side, alternative texts."""

from __future__ import annotations

from collections.abc import Sequence

from pages._ui.escaped import in_markdown
from pages._ui.numbers import written
from pages._ui.sentences import counted, sentence
from pages._ui.table.training import Progress
from posembed_core.tables.measures.analysis import Measures
from posembed_core.tables.measures.similarity import adjacent_cosine
from posembed_core.tables.measures.sinusoid_fit import SEARCHED_ROWS, SinusoidFit
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
    sentences = (
        f"**The task**: {task[0].lower()}{task[1:]}. The table starts as noise; nothing but the "
        "gradient of the loss shapes it. "
    )
    if last.step == 0:
        return f"{sentences}Loss {first.loss:.3f}, {_adjacent(progress)}. **Run** trains it."
    return (
        f"{sentences}After {last.step} steps the loss is {written(last.loss, '.3g')} (from "
        f"{written(first.loss, '.3g')}), {_adjacent(progress)}. The picture on the right is "
        "what the head makes of the table: how much each position attends to every other by "
        "position alone. A table may look like noise and still say just that."
    )


def training_alt(progress: Progress) -> str:
    """The training's pictures in one sentence."""
    return (
        f"Position table, similarity of its rows and attention at step {progress.last.step} of "
        f"{progress.spec.steps}: loss {written(progress.last.loss, '.3g')}, {_adjacent(progress)}."
    )


def _adjacent(progress: Progress) -> str:
    return f"mean cosine of adjacent rows {if_defined(adjacent_cosine(progress.last.weight))}"


def gradient_said(step: GradientStep, length: int) -> str:
    """Which rows moved, and why only those."""
    low, high = int(step.looked_up[0]), int(step.looked_up[-1])
    still = step.grad.shape[0] - step.moved.numel()
    places = f"positions {low} to {high}" if high > low else f"position {low}"
    others = f" The gradient of {counted(still, 'other row')} is 0." if still else ""
    return (
        f"One sequence of {counted(length, 'token')} at {places}, loss {step.loss:.3f}: "
        f"**{counted(step.moved.numel(), 'row')} moved**, exactly what was looked up.{others} A "
        "row that no sequence reaches stays noise for ever. AdamW's first step has the size of "
        "the learning rate, against the sign of the gradient."
    )


def fixed_said(learned: GradientStep, fixed: GradientStep, title: str) -> str:
    """That no gradient reaches a fixed encoding, beside the learned table."""
    rows = [
        "| the same step with | rows moved | gradient of the table | of all other weights | loss |",
        "|:--|--:|--:|--:|--:|",
    ]
    for name, step in (("the learned table", learned), (f"{title}, fixed", fixed)):
        norm = "none" if step.is_fixed else written(step.grad.norm(), ".3g")
        others = written(step.others, ".3g")
        rows.append(f"| {name} | {step.moved.numel()} | {norm} | {others} | {step.loss:.3f} |")
    explained = (
        "**No gradient reaches a fixed encoding**: it is computed, not a parameter, so training "
        "moves only the weights that read it. Gradients as norms."
    )
    return "\n".join(rows) + f"\n\n{explained}"


def described(table: PositionTable) -> str:
    """What table this is, and what was recognised about it."""
    notes = "".join(f" {sentence(note)}" for note in table.notes)
    return (
        f"{_named(table)}: {counted(table.max_seq_len, 'position')} × "
        f"{counted(table.embed_dim, 'dimension')}.{notes}"
    )


def lookup_alt(table: PositionTable, position: int) -> str:
    """The picture of a looked-up row in one sentence."""
    return f"{_called(table)}, row {written(position)} marked."


def _called(table: PositionTable) -> str:
    return f"Position table ({table.source}, {table.name})"


def comparison_alt(tables: Sequence[PositionTable]) -> str:
    """The pictures of several tables in one sentence."""
    return f"{len(tables)} position tables side by side."


def measure_alt(table: PositionTable, which: str) -> str:
    """The picture of a measure in one sentence."""
    return f"{which.capitalize()}: {_called(table)}."


def beyond_said(way: str, rows: int, length: int) -> str:
    """Where the rows of a stretched table come from."""
    last, several = length - 1, length > rows + 1
    return {
        "longer": (
            f"Rows {rows} to {last} were added at random: nothing has trained them."
            if several
            else f"Row {last} was added at random: nothing has trained it."
        ),
        "interpolated": (
            f"{counted(rows, 'row')} stretched to {length}: each new one lies on the line between "
            "its two nearest, the first and the last stay. The model has to get used to it."
        ),
        "formula": (
            f"{f'Rows {rows} to {last} come' if several else f'Row {last} comes'} from the "
            "formula, which knows every position, but needn't fit what was learned."
        ),
    }.get(way, "")


def compared(tables: Sequence[PositionTable], measured: Sequence[Measures]) -> str:
    """The measures of tables as a Markdown table, a row for each table."""
    titles = (
        "table", "mean norm", "cosine of adjacent rows", "… mean row removed", "effective rank",
        "variance in 3 components", "distance to a sinusoid",
    )  # fmt: skip
    lines = [f"| {' | '.join(titles)} |", "|---|" + "---:|" * (len(titles) - 1)]
    for table, numbers in zip(tables, measured, strict=True):
        wave = numbers.sinusoid
        values = (
            _named(table),
            written(numbers.mean_norm, ".3g"),
            if_defined(numbers.adjacent),
            if_defined(numbers.adjacent_centred),
            if_defined(numbers.effective_rank, ".1f"),
            f"{numbers.three_components:.0%}",
            "undefined" if wave is None else f"{written(wave.distance, '.2f')} ({_waves(wave)})",
        )
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines)


def _waves(fit: SinusoidFit) -> str:
    exponents = "" if fit.spacing == "i/half" else ", exponents i/(d/2 − 1)"
    return f"base {written(fit.base)}{exponents}"


def if_defined(value: float | None, pattern: str = ".2f") -> str:
    """The number as text, or that there is none."""
    return "undefined" if value is None else written(value, pattern)


def _named(table: PositionTable) -> str:
    return f"**{in_markdown(table.source)}**, {in_markdown(table.name)}"


DISTANCE = (
    "The distance to a sinusoid is what is left of a table after the rotation, reflection, shift "
    "and scaling that bring it closest to a sinusoidal table of its size (Procrustes; 0 is a "
    "sinusoid), whose base is the one that fits best: on all rows, or the first "
    f"{SEARCHED_ROWS} of a longer table. Exponents are i/(d/2), or i/(d/2 − 1), as in Whisper and "
    "tensor2tensor, where the base is rounder so. The distance depends on the size: compare with "
    "noise of the same size."
)
