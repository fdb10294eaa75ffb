"""What the table page gives away: each view's scripts, arrays and file, against the core."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from plotly.offline import get_plotlyjs
from safetensors.torch import save

from pages._ui.table.sources import measures, random_table
from pages._ui.table.takeaway import (
    comparison_shown,
    gradient_shown,
    lookup_shown,
    measure_shown,
    source_of,
    training_shown,
)
from pages._ui.table.training import Progress
from pages._ui.takeaway.files import FORMATS, archive, encoded
from pages._ui.takeaway.view import OnScreen
from posembed_core import TrainingSpec, load_table, train_table
from posembed_core.pictures.resolution import Span
from posembed_core.scripts.tables import StoredTable
from posembed_core.tables.measures.analysis import (
    cosine_similarity,
    principal_components,
    row_norms,
)
from posembed_core.tables.position_table import PositionTable
from posembed_core.training.training import gradient_step
from tests.core.scripts.test_recipes import run_all
from tests.visits import opened

SPEC = TrainingSpec(max_seq_len=16, embed_dim=8, steps=6, snapshot_every=3)
MEASURES = ("norms", "similarity", "patches", "singular values", "waves", "components")


@pytest.fixture(scope="module")
def progress() -> Progress:
    return Progress(SPEC, tuple(train_table(SPEC)), goes_on=False)


def trained(progress: Progress) -> PositionTable:
    return PositionTable(weight=progress.last.weight, name="step 6", source="Trained here")


def seen(progress: Progress) -> dict[str, OnScreen]:
    """Every view at a setting."""
    table = trained(progress)
    source = source_of("trained", progress, table)
    views = {
        "training": training_shown(progress),
        "gradient": gradient_shown(SPEC, start=3, length=9),
        "lookup": lookup_shown(table, source, "error", "", 32, position=5),
        "beyond": lookup_shown(table, source, "error", "", 32, position=16),
        "formula": lookup_shown(table, source, "formula", "sinusoidal", 32, position=20),
        "compare": comparison_shown(progress, [random_table(SPEC), table], in_spreads=True),
    }
    return views | {which: measure_shown(table, source, which) for which in MEASURES}


def arrays(shown: OnScreen) -> dict[str, np.ndarray]:
    """Each array as it is read back from its .npy file."""
    return {
        table.name: np.load(io.BytesIO(b"".join(encoded(table, "npy")))) for table in shown.tables()
    }


def test_every_view_fills_one_archive(progress: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages._ui.takeaway.view.here", lambda: "http://localhost/table")
    for name, shown in seen(progress).items():
        view = shown.view()
        files = zipfile.ZipFile(io.BytesIO(list(archive(view))[-1]))
        kept = {Path(path).name for path in files.namelist()}
        assert "README.md" in kept, name
        assert f"{shown.name}.html" in kept, name
        assert {f"{table.name}.npy" for table in shown.tables()} <= kept, name
        assert sum(path.endswith(".py") for path in kept) == len(shown.scripts), name


def test_pages_hold_no_outside_address(progress: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages._ui.takeaway.view.here", lambda: "http://localhost/table")
    for name, shown in seen(progress).items():
        (picture,) = shown.view().pictures.values()
        page = picture().replace(get_plotlyjs(), "")
        assert "var(--st" not in page, name
        addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
        assert addresses <= {"http://localhost/table"}, name


def test_arrays_are_the_cores(progress: Progress) -> None:
    shown, weight = seen(progress), progress.last.weight
    training = arrays(shown["training"])
    assert np.array_equal(training["position_embeddings.weight"], weight.numpy())
    assert np.array_equal(training["attention"], progress.last.attention().numpy())
    whole = Span(0, 16)
    cosines = cosine_similarity(weight, whole, whole).values
    np.testing.assert_allclose(training["similarity"], cosines, rtol=1e-12)
    assert training["course"][:, 0].tolist() == [0, 3, 6]
    assert training["course"][-1, 1] == progress.last.loss
    lesson = gradient_step(replace(SPEC, seq_len=9), 3)
    gradient = arrays(shown["gradient"])
    assert np.array_equal(gradient["gradient"], lesson.grad.numpy())
    assert np.array_equal(gradient["change"], (lesson.after - lesson.before).numpy())
    beyond = arrays(shown["formula"])
    assert beyond["position_embeddings.weight"].shape == (32, 8)
    assert np.array_equal(beyond["row"][0], beyond["position_embeddings.weight"][20])
    assert beyond["added"][:, 0].tolist() == [0.0] * 16 + [1.0] * 16
    compared = arrays(shown["compare"])
    assert compared["measures"][1, 0] == measures(trained(progress)).mean_norm
    assert np.array_equal(compared["table-1"], SPEC.initial_table().numpy())
    norms = arrays(shown["norms"])["norms"]
    assert np.array_equal(norms[:, 0], row_norms(weight).numpy())
    curves = arrays(shown["components"])["curves"]
    assert np.array_equal(curves, principal_components(weight).curves.numpy())


def test_a_table_is_known_again(progress: Progress, tmp_path: Path) -> None:
    table = seen(progress)["norms"].tables()[-1]
    for kind in FORMATS[1:]:
        path = tmp_path / f"table.{kind}"
        path.write_bytes(b"".join(encoded(table, kind)))
        again = load_table(path)
        assert torch.equal(again.weight, progress.last.weight)


def test_figures_hold_the_numbers(progress: Progress) -> None:
    shown = seen(progress)
    training = shown["training"].plots[""].figure()
    cells = next(trace for trace in training.data if trace.name == "table").z
    assert np.array_equal(np.float32(cells), progress.last.weight.T.numpy())
    assert training.layout.yaxis4.range[1] > progress.last.loss
    lookup = shown["lookup"].plots[""].figure()
    row = next(trace for trace in lookup.data if trace.name == "row").y
    assert np.array_equal(np.float32(row), progress.last.weight[5].numpy())
    assert (lookup.layout.shapes[0].x0, lookup.layout.shapes[0].x1) == (4.5, 5.5)
    assert not shown["beyond"].plots[""].figure().layout.shapes[0].visible


def test_scripts_run_alone(progress: Progress, tmp_path: Path) -> None:
    scripts = [script() for shown in seen(progress).values() for script in shown.scripts.values()]
    answers = run_all(scripts, tmp_path)
    printed = dict(zip(seen(progress), [answer.text for answer in answers], strict=False))
    assert f"step 6: loss {progress.last.loss:.6f}" in printed["training"]
    assert "9 rows moved: 3 to 11" in printed["gradient"]
    assert "position 16: index out of range" in printed["beyond"]
    assert "32 positions, 8 dimensions" in printed["formula"]
    mean = measures(trained(progress)).mean_norm
    assert sum(f"mean norm                {mean:.6g}" in answer.text for answer in answers) == 7


def test_your_own_file_is_read_by_its_name(progress: Progress) -> None:
    own = load_table(io.BytesIO(save({"wpe": torch.ones(8, 4)})), source="my table.safetensors")
    source = source_of("file", progress, own)
    assert source == StoredTable("my table.safetensors", "wpe", 0)
    (script,) = measure_shown(own, source, "norms").scripts.values()
    assert "file = 'my table.safetensors'" in script()


VIEWS = {
    "training": ("course", "torch.optim.AdamW"),
    "lookup": ("row", "torch.nn.functional.embedding"),
    "gradient": ("gradient", "loss.backward()"),
    "compare": ("measures", "effective_rank"),
    "measures": ("decay", "cosines.diagonal"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_the_page_has_both_buttons(view: str) -> None:
    array, code = VIEWS[view]
    app = opened("table", "table.take", view=view)
    menu = next(box for box in app.selectbox if box.label == "Array")
    assert any(option.startswith(f"{array}, ") for option in menu.options)
    assert any(button.label.startswith("HTML") for button in app.get("download_button"))
    app = opened("table", "table.code", view=view)
    assert any(code in block.value and "posembed" not in block.value for block in app.code)


def test_what_the_sliders_say_is_taken() -> None:
    app = opened(
        "table", "table.code", view="lookup", position="77", beyond="longer", source="sinusoidal"
    )
    (script,) = [code.value for code in app.code]
    assert "position = 77" in script
    assert "length = 256" in script
    assert "two_m = torch.arange(0, embed_dim, 2" in script
    app = opened("table", "table.code", view="gradient", start="4", tokens="12")
    (script,) = [code.value for code in app.code]
    assert "start = 4" in script
    assert "seq_len = 12" in script
