"""What the attention page gives away: each view's scripts, arrays and file, against the core."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from plotly.offline import get_plotlyjs

from pages._ui.attention import takeaway
from pages._ui.attention.distance import DISTANCES, random_vectors, same_vector
from pages._ui.attention.inputs import Scene, attention, column, inputs, shifted, shuffled, split
from pages._ui.attention.settings import Chosen
from pages._ui.takeaway.files import archive, encoded
from pages._ui.takeaway.view import OnScreen
from posembed_core import AdditiveEncoding
from tests.core.scripts.test_recipes import run_all
from tests.visits import opened

SLUGS = ("none", "sinusoidal", "rope", "t5")
SAID: dict[str, Any] = {"scale": 0.5, "temperature": 2.0, "query": 3, "shuffle": 4, "shift": 9,
                        "of": "sinusoidal"}  # fmt: skip
VIEWS = ("weights", "shuffle", "shift", "four", "distance")


@pytest.fixture(scope="module")
def chosen() -> Chosen:
    """Drawn words and weights, causal, the third head."""
    scene = Scene(False, "one two three four five six", 5)
    given = inputs(scene)
    columns = tuple(column(slug, {}, given.projections) for slug in SLUGS)
    return Chosen(scene, given, SLUGS, ("None", "Waves", "RoPE", "T5"), columns, 2, True)


@pytest.fixture
def seen(chosen: Chosen, monkeypatch: pytest.MonkeyPatch) -> dict[str, OnScreen]:
    """Every view, with the sliders at `SAID`."""
    monkeypatch.setattr(takeaway, "remembered", lambda _page: SAID)
    monkeypatch.setattr("pages._ui.takeaway.view.here", lambda: "http://localhost/attention")
    views = {view: getattr(takeaway, f"{view}_shown")(chosen) for view in VIEWS}
    assert all(views.values())
    return views


def arrays(shown: OnScreen) -> dict[str, np.ndarray]:
    """Each array as it is read back from its .npy file."""
    return {
        table.name: np.load(io.BytesIO(b"".join(encoded(table, "npy")))) for table in shown.tables()
    }


def test_every_view_fills_one_archive(seen: dict[str, OnScreen]) -> None:
    for name, shown in seen.items():
        files = zipfile.ZipFile(io.BytesIO(list(archive(shown.view()))[-1]))
        kept = {Path(path).name for path in files.namelist()}
        pages = {f"{shown.name}{part and '-'}{part}.html" for part in shown.plots}
        assert {"README.md", *pages} <= kept, name
        assert {f"{table.name}.npy" for table in shown.tables()} <= kept, name
        assert sum(path.endswith(".py") for path in kept) == len(shown.scripts), name


def test_pages_hold_no_outside_address(seen: dict[str, OnScreen]) -> None:
    for name, shown in seen.items():
        for picture in shown.view().pictures.values():
            page = picture().replace(get_plotlyjs(), "")
            assert "var(--st" not in page, name
            addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
            assert addresses <= {"http://localhost/attention"}, name


def test_arrays_are_the_cores(seen: dict[str, OnScreen], chosen: Chosen) -> None:
    scene, (_, waves, rope, t5) = chosen.scene, chosen.encodings
    weights = arrays(seen["weights"])
    core = attention(scene, rope, 2, 0.5, True, 2.0)
    assert np.array_equal(weights["rope-weights"], core.weights.numpy())
    masked = core.scores.masked_fill(~core.allowed, -torch.inf)
    assert np.array_equal(weights["rope-scores"], masked.numpy())
    shuffle = arrays(seen["shuffle"])
    test = shuffled(scene, t5, 4, 0.5, True, 1.0)
    assert np.array_equal(shuffle["errors-causal"][:, 3], test.error.numpy())
    assert shuffle["permutation"][:, 0].tolist() == test.permutation.tolist()
    unmasked = shuffled(scene, t5, 4, 0.5, False, 1.0)
    assert np.array_equal(shuffle["t5-before"], unmasked.before[2].numpy())
    assert np.array_equal(shuffle["t5-after"], unmasked.after[2].numpy())
    moved = arrays(seen["shift"])
    assert np.array_equal(
        moved["sinusoidal-change"], shifted(scene, waves, 9, 0.5).change[2].numpy()
    )
    four = arrays(seen["four"])
    assert isinstance(waves, AdditiveEncoding)
    terms = split(scene, waves, 0.5)
    assert np.array_equal(four["content-position"], terms.content_position[2].numpy())
    assert np.array_equal(four["scores"], terms.scores[2].numpy())
    distance = arrays(seen["distance"])
    assert distance["same"][:, 0].tolist() == list(DISTANCES)
    assert np.array_equal(distance["same"][:, 3], same_vector(rope, 2).numpy())
    assert np.array_equal(distance["random-mean"][:, 4], random_vectors(t5, 2).mean.numpy())
    assert distance["bounds"].shape == (len(DISTANCES), 2)


def test_figures_hold_the_numbers(seen: dict[str, OnScreen], chosen: Chosen) -> None:
    figure = seen["weights"].plots[""].figure()
    cells = {trace.name: np.asarray(trace.z) for trace in figure.data}
    first, rope = (
        attention(chosen.scene, chosen.encodings[at], 2, 0.5, True, 2.0).weights for at in (0, 2)
    )
    allowed = np.tril(np.ones((6, 6), dtype=bool))
    np.testing.assert_array_equal(cells["weights 2"][allowed], rope.numpy()[allowed])
    np.testing.assert_allclose(cells["changes 2"][allowed], (rope - first).numpy()[allowed])
    assert np.isnan(cells["scores 0"][~allowed]).all()
    four = seen["four"].plots[""].figure()
    total = sum(np.asarray(trace.z) for trace in four.data[:4])
    np.testing.assert_allclose(total, np.asarray(four.data[4].z), atol=1e-9)


def test_scripts_print_the_numbers_shown(
    seen: dict[str, OnScreen], chosen: Chosen, tmp_path: Path
) -> None:
    scripts = {
        (view, title): script()
        for view, shown in seen.items()
        for title, script in shown.scripts.items()
    }
    answers = dict(zip(scripts, run_all(list(scripts.values()), tmp_path), strict=True))
    scene, (none, waves, rope, t5) = chosen.scene, chosen.encodings
    weights = attention(scene, rope, 2, 0.5, True, 2.0).weights[3, :6]
    assert (
        ", ".join(f"{number:.4f}" for number in weights.tolist()) in answers["weights", "RoPE"].text
    )
    test = shuffled(scene, t5, 4, 0.5, False, 1.0)
    assert printed(answers["shuffle", "T5"].text, "error")[0] == pytest.approx(
        test.frobenius, rel=1e-4
    )
    blind = printed(answers["shuffle", "None"].text, "error")
    assert blind[0] < 1e-10
    assert shuffled(scene, none, 4, 0.5, False, 1.0).frobenius < 1e-10
    moved = shifted(scene, waves, 9, 0.5)
    assert printed(answers["shift", "Waves"].text, "greatest change") == pytest.approx(
        [moved.maximum, moved.score_size], rel=1e-4
    )
    terms = split(scene, waves, 0.5)
    greatest = re.findall(r"greatest (\S+)", answers["four", "Waves"].text)
    assert float(greatest[1]) == pytest.approx(
        float(terms.content_position[2].abs().max()), rel=1e-4
    )
    at, curve = DISTANCES.index(10), same_vector(rope, 2)
    line = next(
        row
        for row in answers["distance", "RoPE"].text.split("\n")
        if row.startswith(" " * 6 + "10")
    )
    assert [float(number) for number in line.split()[1:4]] == pytest.approx(
        [float(curve[at]), float(curve[at] - curve[0]), float(random_vectors(rope, 2).mean[at])],
        rel=1e-5,
    )


def printed(text: str, after: str) -> list[float]:
    line = next(line for line in text.split("\n") if line.strip().startswith(after))
    return [float(number) for number in re.findall(r"\d[\d.]*(?:e[+-]?\d+)?", line)]


def test_a_view_without_a_picture_gives_nothing(chosen: Chosen) -> None:
    scene, given = chosen.scene, chosen.inputs
    rope = column("rope", {}, given.projections)
    alone = Chosen(scene, given, ("rope",), ("RoPE",), (rope,), 0, False)
    assert takeaway.four_shown(alone) is None


CODE = {
    "weights": "scores.softmax(-1)",
    "shuffle": "random.permutation(len(moving))",
    "shift": "scores_of(head, positions + shift)",
    "four": 'q["content"] + q["position"]',
    "distance": "normal = torch.from_numpy",
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_the_page_has_both_buttons(view: str) -> None:
    app = opened("attention", "attention.code", view=view, scale="0.5", shift="17")
    assert any(CODE[view] in code.value and "posembed" not in code.value for code in app.code)
    if view == "shift":
        assert any("shift = 17" in code.value and "s = 0.5" in code.value for code in app.code)
    app = opened("attention", "attention.take", view=view)
    assert next(box for box in app.selectbox if box.label == "Array").options
    assert any(button.label.startswith("HTML") for button in app.get("download_button"))
