"""Which table the table page shows: the trained one, a real model's, a formula's, or your own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
import torch
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile
from torch import Tensor

from pages._ui.controls import Link, setting
from pages._ui.controls.controls import sizes
from pages._ui.sentences import sentence
from pages._ui.server.apart import APART
from pages._ui.server.installed_model import model_problem, needed_model
from pages._ui.server.kept import kept
from pages._ui.server.tables import table_in, tables_in
from pages._ui.table.training import GOAL, Progress
from posembed_core import AdditiveEncoding, TrainingSpec, create, encodings
from posembed_core.base import MAX_LENGTH
from posembed_core.parameters import Choice
from posembed_core.tables.extension import by_formula, interpolated, longer
from posembed_core.tables.files.checkpoints import (
    CheckpointError,
    PositionTable,
    TensorInfo,
)
from posembed_core.tables.measures.analysis import Measures, measure
from posembed_core.tables.position_table import dims
from posembed_core.training.training import GradientStep, gradient_step

TRAINED, MODEL, FILE = "trained", "model", "file"
FIXED = "sinusoidal"  # what a learned table stands beside
MOST_PREFIX_ROWS = 16
_SOURCE = "table.source"
_UPLOADS = "table.uploads"  # how many files were taken off the uploader again
_REFUSED = "table.refused"


def upload() -> PositionTable | None:
    """The reader's own file: choose it, choose its tensor. None until there is one."""
    uploads = st.session_state.setdefault(_UPLOADS, 0)
    file = st.file_uploader(
        "Your file: .npy, .npz, .safetensors or .pt",
        key=f"table.file{uploads}",
        on_change=_use_file,
    )
    st.caption("Read in memory for this session only; pickled code is never run.")
    refused = st.session_state.pop(_REFUSED, None)
    if refused:
        st.error(refused)
    if file is None:
        return None
    try:
        tensors, count = _listed(file)
        titles = {tensor.name: _tensor_title(tensor) for tensor in tensors}
        name = st.selectbox(
            "Tensor", titles, format_func=titles.__getitem__, key=f"table.tensor{uploads}"
        )
        if count > len(tensors):
            st.caption(
                f"The file has {count:,} matrices; the list has the first {len(tensors):,}, those "
                "that are named like position tables before others."
            )
        table = _loaded(file, name)
        return _with_prefix(file, table, f"{uploads}.{name}")
    except CheckpointError as error:
        # What is refused isn't kept: the uploader starts anew, empty.
        _forget(file)
        st.session_state[_REFUSED] = sentence(error, "Refused: ")
        st.session_state[_UPLOADS] += 1
        st.rerun()


def _with_prefix(file: UploadedFile, table: PositionTable, key: str) -> PositionTable:
    """The table with as many rows before position 0 as the reader says."""
    prefix = st.number_input(
        "Rows before position 0",
        min_value=0,
        max_value=min(MOST_PREFIX_ROWS, table.weight.shape[0] - 1),
        value=table.offset,
        key=f"table.prefix{key}",
        help="A vision model's class token (1 row) and distillation token (2), or padding (2): "
        "they belong to no position",
    )
    return table if prefix == table.offset else _loaded(file, table.name, int(prefix))


def choose_source(link: Link, own: PositionTable | None, progress: Progress) -> str:
    """The menu of tables; the one that is trained here is noise until it is."""
    here = "Trained here" if progress.last.step else "Noise, not trained yet"
    titles = {TRAINED: here, MODEL: "A real model's", FILE: "Your file"}
    titles |= {
        slug: cls.title for slug, cls in encodings().items() if issubclass(cls, AdditiveEncoding)
    }
    if own is None:
        titles.pop(FILE)
        if st.session_state.get(_SOURCE) == FILE:
            st.session_state[_SOURCE] = TRAINED
    parameter = Choice("Table", options=tuple(titles))
    source: str = setting(
        link, "source", parameter, TRAINED, format_func=titles.__getitem__, width=230
    )
    return source


def idle_settings(link: Link) -> tuple[str, ...]:
    """The settings of a training that change nothing in the table shown.

    A formula has sizes, noise a seed as well, and nothing of it is in a real model's table.
    """
    source = link.now("source", _SOURCE, TRAINED)
    if source == TRAINED and link.now("step", GOAL, 0) not in {0, "0"}:
        return ()
    live = {"seed"} if source == TRAINED else set()
    has_sizes = source == TRAINED or source in encodings()
    return tuple(
        name
        for name, parameter in TrainingSpec.parameters().items()
        if name not in live and not (has_sizes and parameter.role != "option")
    )


def table_of(source: str, progress: Progress, own: PositionTable | None) -> PositionTable:
    """The table of that name. Raises `CheckpointError` where there is no real model."""
    if source == FILE and own is not None:
        return own
    if source == MODEL:
        problem = model_problem()
        if problem:
            raise CheckpointError(problem.rstrip("."))
        return needed_model().positions
    formula = formula_for(source, progress.spec)
    if formula is not None:
        return _formula(formula, progress.spec.max_seq_len)
    return trained_table(progress) if progress.last.step else random_table(progress.spec)


def not_trained(source: str, progress: Progress) -> str:
    """A sentence to follow others where the table that is trained here isn't yet; else empty."""
    if source != TRAINED or progress.last.step:
        return ""
    return " Nothing was trained yet: *Training* does that, and its table is then here."


def formula_for(source: str, spec: TrainingSpec) -> AdditiveEncoding | None:
    """The encoding of that name in the sizes of the run; None where the source is none."""
    cls = encodings().get(source)
    if cls is None or not issubclass(cls, AdditiveEncoding):
        return None
    return cls(**sizes(cls, spec.max_seq_len, spec.embed_dim))


def trained_table(progress: Progress) -> PositionTable:
    """The newest snapshot of the run as a table."""
    return PositionTable(
        weight=progress.last.weight,
        name=f"{progress.spec.task.replace('-', ' ')}, step {progress.last.step}",
        source="Trained here",
    )


def random_table(spec: TrainingSpec) -> PositionTable:
    """The table before any training."""
    return PositionTable(weight=spec.initial_table(), name=f"seed {spec.seed}", source="Random")


def formulas() -> dict[str, str]:
    """Slug and title of every encoding that has a vector for each integer."""
    return {
        slug: cls.title
        for slug, cls in encodings().items()
        if issubclass(cls, AdditiveEncoding) and cls().position_count is None
    }


def formula_of(slug: str, table: PositionTable) -> AdditiveEncoding | None:
    """The formula of that name in the table's width; None for none."""
    formula = create(slug, embed_dim=table.embed_dim) if slug else None
    return formula if isinstance(formula, AdditiveEncoding) else None


def stretched_length(rows: int, way: str) -> int:
    """How many rows a table is shown with that is made longer in this way."""
    # Twice as many; between interpolated rows every second one is an old one, to the last.
    return min(2 * rows - (way == "interpolated"), MAX_LENGTH)


def stretched(
    table: PositionTable, way: str, slug: str, length: int
) -> tuple[PositionTable, Tensor | None]:
    """The table made longer in the chosen way, and which of its rows were added.

    The table itself, and None, where it stays as it is.
    """
    formula = formula_of(slug, table)
    if way == "longer":
        extended = longer(table.rows, length)
    elif way == "interpolated":
        extended = interpolated(table.rows, length)
    elif formula is not None:
        extended = by_formula(table.rows, length, formula)
    else:
        return table, None
    weight = extended.weight
    return PositionTable(weight=weight, name=table.name, source=table.source), ~extended.original


def fixed_step_on(spec: TrainingSpec, start: int, length: int) -> tuple[str, GradientStep]:
    """The same step with the formula's vectors in the table's place, and the formula's title."""
    formula = create(FIXED, embed_dim=spec.embed_dim)
    if not isinstance(formula, AdditiveEncoding):
        raise TypeError(f"{FIXED} has no vectors to add")
    vectors = formula.table(torch.arange(spec.max_seq_len))
    step = gradient_step(replace(spec, seq_len=length), start, fixed=vectors)
    return formula.title, step


def step_on(spec: TrainingSpec, start: int, length: int) -> GradientStep:
    """One step of training on a sequence of ``length`` tokens from position ``start`` on."""
    return gradient_step(replace(spec, seq_len=length), start)


def has_patches(table: PositionTable) -> bool:
    """Whether the positions can be the patches of a square image."""
    return math.isqrt(table.max_seq_len) ** 2 == table.max_seq_len


def side_by_side(progress: Progress, own: PositionTable | None) -> Sequence[PositionTable]:
    """Random, ours, a real model's where there is one, and the reader's where there is one."""
    tables = [random_table(progress.spec), trained_table(progress)]
    if not model_problem():
        tables.append(needed_model().positions)
    return [*tables, own] if own is not None else tables


def _tensor_title(tensor: TensorInfo) -> str:
    likely = ", likely" if tensor.likely else ""
    return f"{tensor.name} ({dims(tensor.shape)}{likely})"


def _forget(file: UploadedFile) -> None:
    """Let go of a file that Streamlit would hold until the session ends."""
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def _use_file() -> None:
    st.session_state[_SOURCE] = FILE


@st.cache_resource(
    scope="session",
    max_entries=2,  # as the file suggests, and as the reader says
    show_spinner=False,
    hash_funcs={UploadedFile: lambda file: file.file_id},
)
def _loaded(file: UploadedFile, tensor: str, prefix: int | None = None) -> PositionTable:
    return table_in(APART.read, file.getbuffer(), file.name, tensor, prefix)


@st.cache_resource(
    scope="session",
    max_entries=1,
    show_spinner=False,
    hash_funcs={UploadedFile: lambda file: file.file_id},
)
def _listed(file: UploadedFile) -> tuple[list[TensorInfo], int]:
    return tables_in(APART.read, file.getbuffer(), file.name)


@kept()
def _formula(encoding: AdditiveEncoding, length: int) -> PositionTable:
    weight = encoding.table(torch.arange(length))
    return PositionTable(weight=weight, name=encoding.title, source="Formula")


@kept(key=lambda table: table.digest)
def measures(table: PositionTable) -> Measures:
    """The measures of a table's positions; of a file nothing but these numbers is kept."""
    return measure(table.rows)
