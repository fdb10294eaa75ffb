"""The table page's training as code."""

from __future__ import annotations

from pages._ui.code import code_popover
from posembed_core import TrainingSpec, train_table
from posembed_core.scripts import training_script
from posembed_core.training import OneHeadAttention, Trainer


def show_code(spec: TrainingSpec) -> None:
    """The button for the code of a run."""
    code_popover(
        lambda: training_script(spec),
        [train_table, Trainer, OneHeadAttention],
        name="posembed-training",
        key="table.code",
    )
