"""Each view of the table page as code and as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import plotly.graph_objects as go

from pages._ui.escaped import unmarked
from pages._ui.numbers import written
from pages._ui.server.installed_model import model_problem, needed_model
from pages._ui.table import arrays as table_arrays
from pages._ui.table.film import training_chart
from pages._ui.table.pictures import (
    LOOKUP,
    comparison_chart,
    comparison_ends,
    gradient_chart,
    lookup_cells,
    lookup_chart,
    lookup_window,
    measure_figure,
)
from pages._ui.table.settings import PAGE
from pages._ui.table.sources import (
    FILE,
    MODEL,
    formula_for,
    formula_of,
    measures,
    random_table,
    step_on,
    stretched,
    trained_table,
)
from pages._ui.table.training import Progress
from pages._ui.table.words import (
    BEYOND,
    DEFINITIONS,
    DISTANCE,
    comparison_alt,
    described,
    gradient_said,
    lookup_alt,
    measure_alt,
    training_alt,
    training_said,
)
from pages._ui.takeaway import IN_PYTORCH, OnScreen, Plot, Script
from posembed_core import AdditiveEncoding, TrainingSpec, load_table, train_table
from posembed_core.scripts.tables import (
    FormulaTable,
    ModelTable,
    StoredTable,
    TableSource,
    TrainedTable,
    gradient_script,
    lookup_script,
    measures_script,
    training_script,
)
from posembed_core.tables.extension import by_formula, interpolated, longer
from posembed_core.tables.measures.analysis import measure
from posembed_core.tables.position_table import PositionTable
from posembed_core.training.training import OneHeadAttention, Trainer, gradient_step

_WAYS: dict[str, Sequence[Callable[..., Any]]] = {
    "longer": (longer,), "interpolated": (interpolated,), "formula": (by_formula,),
}  # fmt: skip


def source_of(source: str, progress: Progress, table: PositionTable) -> TableSource:
    """Where a script finds the table that is shown."""
    if source == FILE:
        return StoredTable(table.source, table.name, table.offset)
    if source == MODEL:
        return ModelTable(needed_model().name, table.offset)
    formula = formula_for(source, progress.spec)
    if formula is not None:
        return FormulaTable(formula, progress.spec.max_seq_len)
    return TrainedTable(progress.spec, progress.last.step)


def training_shown(progress: Progress) -> OnScreen:
    """The newest snapshot of a run; its script goes to the end while nothing is trained yet."""
    spec, step = progress.spec, progress.last.step
    return OnScreen(
        name=f"posembed-table-{spec.task}-step-{step}",
        title=f"A position table after {step} steps of training",
        plots={
            "": Plot(
                f"{PAGE}.training",
                figure=lambda: training_chart(progress).figure(),
                alt=lambda: training_alt(progress),
                caption=lambda: _plain(training_said(progress)),
            )
        },
        settings=_spec(spec) | {"step": f"{step}"},
        tables=lambda: table_arrays.of_training(progress),
        scripts={IN_PYTORCH: lambda: training_script(spec, step or None)},
        sources=[train_table, Trainer, OneHeadAttention],
    )


def lookup_shown(
    table: PositionTable,
    source: TableSource,
    way: str,
    slug: str,
    length: int,
    *,
    position: int,
    full: bool = False,
) -> OnScreen:
    """One row of a table, which may have been made ``length`` rows long."""
    with_added = cache(lambda: stretched(table, way, slug, length))
    count = table.max_seq_len if way == "error" else length
    formula = formula_of(slug, table)
    # Read now: a file is made outside of the reader's session.
    window = lookup_window(count, table.embed_dim)

    def figure() -> go.Figure:
        shown, added = with_added()
        return lookup_chart(shown, position, added, 0 <= position < count, window, full).figure()

    return OnScreen(
        name=f"posembed-table-row-{position}",
        title=f"Row {written(position)} of the position table of {table.source}",
        plots={
            "": Plot(
                LOOKUP,
                figure=figure,
                alt=lambda: lookup_alt(table, position),
                caption=lambda: _plain(
                    f"{described(table)} {lookup_cells(with_added()[0], window, full)}"
                ),
            )
        },
        settings={
            **_of_table(table, source),
            "position": written(position),
            "beyond the end": BEYOND[way].lower(),
            **({"formula": formula.title} if formula is not None else {}),
        },
        tables=lambda: table_arrays.of_lookup(
            with_added, (count, table.embed_dim), position, way != "error"
        ),
        scripts={
            IN_PYTORCH: lambda: lookup_script(
                source, position, way=way, length=count, formula=formula
            )
        },
        sources=[PositionTable, *_WAYS.get(way, ())],
        references=_references(source, formula),
    )


def gradient_shown(spec: TrainingSpec, *, start: int, length: int) -> OnScreen:
    """One step on a sequence of ``length`` tokens from position ``start`` on."""
    step = cache(lambda: step_on(spec, start, length))
    at = sorted({0, start, start + 1, start + length - 1, spec.max_seq_len - 1})
    return OnScreen(
        name=f"posembed-table-gradient-{start}-{length}",
        title=f"One step of training, on positions {start} to {start + length - 1}",
        plots={
            "": Plot(
                f"{PAGE}.gradient",
                figure=lambda: gradient_chart(step()).figure(),
                alt=lambda: _plain(gradient_said(step(), length)),
                caption=lambda: "A cell is a mean where there are more values than cells.",
            )
        },
        settings=_spec(replace(spec, seq_len=length)) | {"first position": f"{start}"},
        tables=lambda: table_arrays.of_gradient(step, (spec.max_seq_len, spec.embed_dim)),
        scripts={IN_PYTORCH: lambda: gradient_script(replace(spec, seq_len=length), start, at)},
        sources=[gradient_step, Trainer, OneHeadAttention],
    )


def comparison_shown(
    progress: Progress, tables: Sequence[PositionTable], in_spreads: bool, full: bool = False
) -> OnScreen:
    """Tables side by side; each has a script of its own."""
    scripts: dict[str, Script] = {}
    for table in tables:
        script = partial(_measures_of, table, _beside(table, progress))
        scripts[table.source if table.source not in scripts else table.name] = script
    return OnScreen(
        name="posembed-tables",
        title="Position tables side by side",
        plots={
            "": Plot(
                f"{PAGE}.comparison",
                figure=lambda: comparison_chart(tables, in_spreads, full).figure(),
                alt=lambda: comparison_alt(tables),
                caption=lambda: (
                    f"{'In spreads of each table' if in_spreads else 'On one colour scale'}. "
                    f"{comparison_ends(tables, in_spreads, full).sentence}"
                ),
            )
        },
        settings=_spec(progress.spec) | {"step": f"{progress.last.step}"}
        | {f"table {number}": _sized(table) for number, table in enumerate(tables, start=1)},
        tables=lambda: table_arrays.of_comparison(tables),
        scripts=scripts,
        sources=[measure],
        references=[DISTANCE],
    )  # fmt: skip


def measure_shown(
    table: PositionTable, source: TableSource, which: str, full: bool = False
) -> OnScreen:
    """One measure of a table."""
    return OnScreen(
        name=f"posembed-table-{which.replace(' ', '-')}",
        title=f"{which.capitalize()} of {table.source}, {table.name}",
        plots={
            "": Plot(
                f"{PAGE}.measure.{which}",
                figure=lambda: measure_figure(table, which, full)[0],
                alt=lambda: measure_alt(table, which),
                caption=lambda: _plain(f"{described(table)} {DEFINITIONS[which]}"),
            )
        },
        settings={**_of_table(table, source), "measure": which},
        tables=lambda: table_arrays.of_measure(table, which),
        scripts={IN_PYTORCH: partial(_measures_of, table, source, which)},
        sources=[measure, *([load_table] if isinstance(source, StoredTable) else [])],
        references=_references(source),
    )


def _measures_of(table: PositionTable, source: TableSource, which: str = "") -> str:
    return measures_script(source, which, measures(table).sinusoid)


def _beside(table: PositionTable, progress: Progress) -> TableSource:
    """The source of one of the tables that stand side by side."""
    spec = progress.spec
    if table.source == random_table(spec).source:
        return TrainedTable(spec, 0)
    if table.source == trained_table(progress).source:
        return TrainedTable(spec, progress.last.step)
    if not model_problem() and table is needed_model().positions:
        return ModelTable(needed_model().name, table.offset)
    return StoredTable(table.source, table.name, table.offset)


def _references(source: TableSource, formula: AdditiveEncoding | None = None) -> list[str]:
    of_source = source.encoding if isinstance(source, FormulaTable) else None
    formulas = [encoding for encoding in (of_source, formula) if encoding is not None]
    if not formulas:
        return [PositionTable.reference]
    return [f"{encoding.title}: {encoding.reference}" for encoding in formulas]


def _of_table(table: PositionTable, source: TableSource) -> dict[str, str]:
    run = _spec(source.spec) if isinstance(source, TrainedTable) else {}
    return {"table": f"{table.source}, {table.name}", **run}


def _sized(table: PositionTable) -> str:
    return f"{table.source}, {table.name}, {table.max_seq_len} × {table.embed_dim}"


def _spec(spec: TrainingSpec) -> dict[str, str]:
    return {
        parameter.label.lower(): parameter.format(getattr(spec, name)) or "default"
        for name, parameter in spec.parameters().items()
    }


def _plain(text: str) -> str:
    # A picture that is taken away shows what was on the screen: it can't be asked for more cells.
    return unmarked(text).replace("; zoom in to see all", "")
