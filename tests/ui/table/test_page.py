"""The page about the learned table, as visitors' sessions run it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors.torch import save
from streamlit.testing.v1 import AppTest

import posembed_core as pc
from pages._ui.server.apart import APART
from pages._ui.server.training_queue import TrainingQueue
from pages._ui.server.training_run import Run
from pages._ui.table import training as table_training
from pages._ui.table.training import FRAMES
from tests.visits import arrived

APART_READ = APART.read

# A training of less than a second.
SMALL = {"max_seq_len": "16", "embed_dim": "8", "num_tokens": "4", "batch_size": "2", "steps": "40"}
SPEC = pc.TrainingSpec(
    **{name: int(text) for name, text in SMALL.items()}, snapshot_every=-(-40 // FRAMES)
)
NO_ROOM = "Waiting in place 1: the server has no room for more trainings at once"


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[pc.TrainingSpec]]:
    """A separate queue for each test; gives the specs whose training was started."""
    started: list[pc.TrainingSpec] = []

    def train(spec: pc.TrainingSpec) -> Any:
        started.append(spec)
        return pc.train_table(spec)

    queue = TrainingQueue(train=train)
    monkeypatch.setattr(table_training, "RUNS", queue)
    yield started
    queue.close()


def visit(params: Mapping[str, str] | None = None) -> AppTest:
    """The page at a link."""
    return arrived("table", params)


def link(app: AppTest) -> dict[str, str]:
    params = dict(app.query_params)
    return {name: value[0] if isinstance(value, list) else value for name, value in params.items()}


def press(app: AppTest, label: str) -> None:
    (button,) = (candidate for candidate in app.button if candidate.label == label)
    button.click().run()
    assert not app.exception


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button if not button.disabled}


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def progress(app: AppTest) -> str:
    return str(app.get("progress")[0].proto.text)


def plots(app: AppTest) -> int:
    return sum(b"figure" in element.proto.bytes for element in app.get("bidi_component"))


def finished(app: AppTest, step: int = 40) -> AppTest:
    """The page once its run has finished."""
    deadline = time.monotonic() + 60
    while f"Step {step} of" not in progress(app) or "left" in progress(app):
        assert time.monotonic() < deadline, progress(app)
        app.run()
    app.run()
    return app


def test_the_first_visit_shows_noise() -> None:
    app = visit()
    assert link(app) == {}
    assert progress(app) == "Step 0 of 400"
    assert "Loss 0.728, mean cosine of adjacent rows 0.01" in words(app)
    assert {"Run", "Step", "Reset", "New seed"} <= labels(app)
    assert plots(app) == 1
    assert app.get("download_button") == []


def test_run_trains_to_the_end_and_the_link_remembers() -> None:
    app = visit(SMALL)
    press(app, "Run")
    finished(app)
    *_, result = pc.train_table(SPEC)
    assert f"After 40 steps the loss is {result.loss:.3g}" in words(app)
    assert link(app) == {**SMALL, "step": "40"}
    assert "Run" not in labels(app)
    colleague = finished(visit(link(app)))
    assert words(colleague) == words(app)


def test_step_reset_and_another_seed() -> None:
    app = visit(SMALL)
    noise = words(app)
    press(app, "Step")
    finished(app, 1)
    press(app, "Step")
    finished(app, 2)
    assert link(app)["step"] == "2"
    press(app, "Reset")
    assert words(app) == noise
    assert link(app) == SMALL
    press(app, "New seed")
    assert link(app) == {**SMALL, "seed": "43"}
    assert words(app) != noise


def test_pause_stays_at_what_is_seen() -> None:
    app = visit({"steps": "1000"})
    press(app, "Run")
    deadline = time.monotonic() + 60
    while progress(app).startswith("Step 0 "):
        assert time.monotonic() < deadline
        app.run()
    press(app, "Pause")
    seen = int(link(app)["step"])
    assert 0 < seen < 1000
    assert progress(app) == f"Step {seen} of 1000"
    app.run()
    assert progress(app) == f"Step {seen} of 1000"
    assert "Run" in labels(app)


def test_twenty_sessions_cost_one_run(runs: list[pc.TrainingSpec]) -> None:
    sessions = [visit({**SMALL, "step": "40"}) for _ in range(20)]
    texts = {words(finished(app)) for app in sessions}
    assert len(texts) == 1
    # All but the first of the twenty sessions joined a run that another had started.
    assert runs == [SPEC]


def test_who_takes_turns_or_waits_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    long = {"steps": "1000", "step": "1000", "max_seq_len": "16", "embed_dim": "8"}
    spec = pc.TrainingSpec(max_seq_len=16, embed_dim=8, steps=1000, snapshot_every=1000 // FRAMES)
    room = Run(spec, pc.train_table(spec)).most_bytes
    queue = TrainingQueue(most_bytes=2 * room)
    monkeypatch.setattr(table_training, "RUNS", queue)
    visits = []
    for seed, visitor in enumerate(["a", "b", "a", "c"]):
        monkeypatch.setattr(table_training, "visitor", lambda visitor=visitor: visitor)
        visits.append(visit({**long, "seed": str(seed)}))
    assert progress(visits[0]).startswith("Step 0 of 1000")
    assert "of 1000, taking turns with 1 other training" in progress(visits[1])
    assert progress(visits[2]) == "Waiting in place 1: your trainings go on one at a time"
    assert progress(visits[3]) == NO_ROOM
    queue.close()


def test_a_run_that_waited_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = TrainingQueue(most_bytes=1)
    monkeypatch.setattr(table_training, "RUNS", queue)
    monkeypatch.setattr(table_training, "visitor", lambda: "a")
    visit({"steps": "1000", "step": "1000"})
    monkeypatch.setattr(table_training, "visitor", lambda: "b")
    waiting = visit({**SMALL, "step": "40"})
    assert progress(waiting) == NO_ROOM
    (first,) = queue._turns.values()
    queue.leave(*first.wishes)
    finished(waiting)
    queue.close()


def test_a_link_that_asks_for_the_impossible_says_so() -> None:
    app = visit({"task": "sorting", "steps": "5000", "view": "cube", "colour": "red"})
    text = " ".join(element.value for element in app.warning)
    assert "task=sorting" in text
    assert "steps must be between 1 and 1000, got 5000. Shown instead: 1000." in text
    assert "view=cube" in text
    assert "'colour', which is not a setting here" in text
    assert not app.error
    app = visit({"seq_len": "200"})
    assert app.error[0].value == (
        "seq_len must be at most max_seq_len (128), got 200; try 128. Shown instead: 128."
    )


def test_a_position_beyond_the_end_is_a_model_s_error_and_has_ways_out() -> None:
    beyond = {**SMALL, "view": "lookup", "position": "20"}
    app = visit(beyond)
    (error,) = app.error
    assert "Position 20 has no row in a table of 16 rows: positions go from 0 to 15" in error.value
    assert "use a longer table, interpolate it, or use a formula" in error.value
    for way, sentence in {
        "longer": "Rows 16 to 31 were added at random: nothing has trained them.",
        "interpolated": "16 rows stretched to 31",
        "formula": "Rows 16 to 31 come from the formula",
    }.items():
        app = visit({**beyond, "beyond": way})
        assert not app.error
        assert sentence in words(app)
    app = visit({**beyond, "position": "-3", "beyond": "longer"})
    assert "Position −3 has no row in a table of 32 rows" in app.error[0].value


def test_only_rows_that_were_looked_up_move() -> None:
    app = visit({**SMALL, "view": "gradient", "tokens": "6", "start": "4"})
    text = words(app)
    assert "One sequence of 6 tokens at positions 4 to 9" in text
    assert "**6 rows moved**, exactly what was looked up. The gradient of 10 other rows" in text


def test_a_real_table_stands_beside_ours() -> None:
    app = finished(visit({**SMALL, "view": "compare", "step": "40"}))
    rows = [line for line in words(app).splitlines() if line.startswith("| **")]
    assert [row.split("**")[1] for row in rows] == ["Random", "Trained here", "all-MiniLM-L6-v2"]
    real = rows[-1].split("|")
    assert (real[2].strip(), real[4].strip()) == ("0.474", "0.83")
    assert plots(app) == 1


@pytest.mark.parametrize(
    "which", ["norms", "similarity", "patches", "singular values", "waves", "components"]
)
@pytest.mark.parametrize("source", ["trained", "none", "sinusoidal"])
def test_every_measure_of_every_kind_of_table(which: str, source: str) -> None:
    app = visit({**SMALL, "view": "measures", "measure": which, "source": source})
    assert not app.error
    assert plots(app) == 1
    undefined = words(app).count("undefined")
    assert undefined == (4 if source == "none" else 0)


def uploaded(content: bytes, name: str, view: str = "measures") -> AppTest:
    app = visit({**SMALL, "view": view})
    app.file_uploader[0].set_value((name, content, "application/octet-stream")).run()
    assert not app.exception
    return app


def test_your_own_table_is_shown_likely_tensors_first() -> None:
    table = torch.from_numpy(np.random.RandomState(0).randn(50, 8).astype("f4"))
    other = torch.zeros(3, 4)
    data = safetensors.torch.save({"a.weight": other, "visual.positional_embedding": table})
    app = uploaded(data, "clip.safetensors")
    (tensor,) = (box for box in app.selectbox if box.label == "Tensor")
    assert tensor.options[0] == "visual.positional_embedding (50 × 8, likely)"
    assert "**clip.safetensors**, visual.positional_embedding: 49 positions" in words(app)
    assert "Row 0 belongs to the class token" in words(app).replace("50 = 7² + 1 rows: r", "R")
    (source,) = (box for box in app.selectbox if box.label == "Table")
    assert source.value == "file"
    # No other session sees it.
    (tensors,) = (
        box for box in visit({**SMALL, "view": "measures"}).selectbox if box.label == "Table"
    )
    assert "Your file" not in tensors.options


def test_how_many_rows_of_your_table_come_before_position_0_can_be_chosen() -> None:
    table = torch.from_numpy(np.random.RandomState(0).randn(50, 8).astype("f4"))
    app = uploaded(save({"visual.positional_embedding": table}), "clip.safetensors")
    (prefix,) = (box for box in app.number_input if box.label == "Rows before position 0")
    assert prefix.value == 1
    assert "49 positions" in words(app)
    norms = [line for line in words(app).split("\n") if "clip.safetensors" in line][-1]
    prefix.set_value(0).run()
    assert not app.exception
    assert "50 positions" in words(app)
    assert "class token" not in words(app)
    prefix.set_value(2).run()
    assert "48 positions × 8 dimensions. Rows 0–1 belong to no position" in words(app)
    mean = table[2:].double().norm(dim=1).mean().item()
    line = [line for line in words(app).split("\n") if "clip.safetensors" in line][-1]
    assert f"| {mean:.3g} |" in line != norms


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello", "bad.pt is not a tensor file"),
        (b"\x80\x04K\x01.", "bad.pt holds pickled code or objects"),
        (save({"wpe": torch.tensor([[1.0, float("nan")]])}), "nan at row 0, column 1"),
        (save({"wpe": torch.ones(4, 4)})[:-1], "bad.pt is truncated"),
    ],
)
def test_what_cannot_be_read_is_refused_and_let_go(content: bytes, sentence: str) -> None:
    app = uploaded(content, "bad.pt")
    (error,) = app.error
    assert error.value.startswith("Refused: ")
    assert sentence in error.value
    assert app.file_uploader[0].value is None
    (source,) = (box for box in app.selectbox if box.label == "Table")
    assert source.value == "trained"
    app.run()
    assert not app.error


def test_a_file_is_read_once_not_at_every_rerun(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[str] = []

    def read(reader: Any, *args: Any) -> Any:
        readers.append(reader.__name__)
        return APART_READ(reader, *args)

    monkeypatch.setattr(APART, "read", read)
    tensors = {f"layers.{i}": torch.zeros(2, 2) for i in range(1_100)} | {"wpe": torch.eye(8)}
    app = uploaded(save(tensors), "many.safetensors")
    assert len(app.selectbox(key="table.tensor0").options) == 1_000
    assert "The file has 1,101 matrices; the list has the first 1,000" in app.caption[1].value
    app.run()
    assert readers == ["read_names", "read_table"]


def test_one_step_says_that_no_gradient_reaches_a_fixed_encoding() -> None:
    app = visit({**SMALL, "view": "gradient", "start": "2", "tokens": "5"})
    text = words(app)
    assert "**No gradient reaches a fixed encoding**" in text
    rows = [line.split(" | ") for line in text.split("\n") if line.startswith("| ")]
    learned, fixed = rows[1:3]
    assert learned[1] == "5"
    assert float(learned[2]) > 0
    assert fixed[:3] == ["| Sinusoidal, fixed", "0", "none"]
    assert float(fixed[3]) > 0


def test_patches_are_offered_for_a_square_of_them_alone() -> None:
    app = visit({"view": "measures", "source": "learned", "max_seq_len": "25"})
    menu = app.selectbox(key="table.measure")
    assert "Patches" in menu.options
    menu.set_value("patches").run()
    assert link(app)["measure"] == "patches"
    app.number_input(key="table.max_seq_len").set_value(24).run()
    assert not app.exception
    assert "measure" not in link(app)
    menu = app.selectbox(key="table.measure")
    assert (menu.value, "Patches" in menu.options) == ("similarity", False)
    (note,) = (element.value for element in app.warning)
    assert "24 positions do not form a square of patches" in note
    app = visit({"view": "measures", "measure": "patches"})
    assert "128 positions do not form a square of patches" in app.warning[0].value
    assert app.selectbox(key="table.measure").value == "similarity"


@pytest.mark.parametrize("view", ["lookup", "measures"])
def test_noise_is_called_trained_only_once_it_is(view: str) -> None:
    noise = visit({"view": view, **SMALL})
    told = "Nothing was trained yet"
    assert noise.selectbox(key="table.source").options[0] == "Noise, not trained yet"
    assert any(told in element.value for element in noise.markdown)
    assert "table.task" not in {box.key for box in noise.selectbox}
    assert not any(
        told in element.value for element in visit({"view": view, "source": "learned"}).markdown
    )
