"""The buttons "Code" and "Take away" on every page, as a visitor's session runs them."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from plotly.offline import get_plotlyjs
from streamlit.testing.v1 import AppTest

from pages._ui.combine.takeaway import combination_shown
from pages._ui.figures.two_pictures import Lengths
from pages._ui.long_context.reading import reading_of
from pages._ui.long_context.settings import Chosen, Sliders
from pages._ui.long_context.takeaway import rope_shown
from pages._ui.server.installed_model import needed_model
from pages._ui.server.setting import SentenceTokens, Setting
from pages._ui.takeaway.code import source_of
from pages._ui.takeaway.files import archive
from posembed_core import create
from posembed_core.combination import combine
from posembed_core.long_context.pairs import pair_table
from posembed_core.scripts.combine import combine_script
from posembed_core.scripts.values import DrawnTokens
from tests.visits import arrived, opened


@pytest.mark.parametrize(
    ("page", "key", "line"),
    [
        ("combine", "combine.code", "two_m = torch.arange(0, embed_dim, 2"),
        ("attention", "attention.code", "scores.softmax(-1)"),
        ("long_context", "long-context.code", "low_freq_factor = 1.0"),
        ("compare", "compare.code", 'print(f"norm of {name:3} mean'),
        ("table", "table.code", "torch.optim.AdamW"),
    ],
)
def test_every_page_shows_its_code(page: str, key: str, line: str) -> None:
    app = opened(page, key)
    assert any(line in code.value and "posembed" not in code.value for code in app.code)


def test_nothing_is_made_before_a_button_is_opened() -> None:
    app = arrived("combine")
    assert [code.value for code in app.code] == []
    assert app.get("download_button") == []


def test_the_script_is_that_of_the_setting() -> None:
    params = {"encoding": "alibi", "scale": "0.5", "token_seed": "7", "at": "1"}
    app = opened("combine", "combine.code", **params)
    expected = combine_script(DrawnTokens(128, 64, seed=7), create("alibi"), scale=0.5, at=[1])
    assert expected.strip() in [code.value.strip() for code in app.code]


def test_the_source_is_the_cores_own() -> None:
    app = opened("combine", "combine.code")
    menu = next(box for box in app.selectbox if box.label == "What")
    menu.set_value("Source of combine").run()
    assert source_of(combine).strip() in [code.value.strip() for code in app.code]
    assert "def combine(" in source_of(combine)
    assert "torch.arange(n) if positions is None" in source_of(combine)


def test_what_can_be_taken_away_is_listed() -> None:
    app = opened("attention", "attention.take")
    menu = next(box for box in app.selectbox if box.label == "Array")
    assert len(menu.options) == 2 * (len(menu.options) // 2) > 2
    assert any(option.startswith("rope-scores, ") for option in menu.options)
    labels = [button.label for button in app.get("download_button")]
    assert any(label.startswith("Download npy") for label in labels)
    assert zip_labels(app) == ["Make zip, about 3.5 MB"]


def test_a_table_of_a_model_has_no_script_of_an_encoding_without_one() -> None:
    app = opened("combine", "combine.code", tokens="sentence", encoding="model")
    script = next(code.value for code in app.code)
    assert 'weight("position_embeddings.weight", "wpe.weight")' in script


def test_a_models_rope_can_be_taken_away() -> None:
    app = opened("long_context", "long-context.take")
    menu = next(box for box in app.selectbox if box.label == "Array")
    assert [option.split(",")[0] for option in menu.options] == ["pairs", "scores"]
    labels = [button.label for button in app.get("download_button")]
    assert [label.split(",")[0] for label in labels if label.startswith("HTML")] == [
        "HTML of pairs", "HTML of scores",
    ]  # fmt: skip
    assert {"The report (txt)", "What becomes of each pair (csv)"} <= set(labels)
    assert zip_labels(app) == ["Make zip, about 7.0 MB"]


def zip_labels(app: AppTest) -> list[str]:
    """The label of the button that makes the archive."""
    sent = [element.proto.json for element in app.get("bidi_component")]
    return [data["label"] for data in map(json.loads, filter(None, sent)) if "most" in data]


def test_a_models_own_table_is_named_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages._ui.takeaway.view.here", lambda: "http://localhost/")
    model = needed_model()
    setting = Setting(SentenceTokens("two words"), 4, model.embed_dim, model.positions)
    shown = combination_shown(setting)
    assert shown.title == "Position table, combined with tokens"
    assert shown.settings["encoding"] == "Position table"
    assert shown.view().about.startswith("Tokens e and Position table, combined: h.")


def models_rope() -> tuple[Chosen, Sliders]:
    config = {
        "head_dim": 32,
        "max_position_embeddings": 16384,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 4,
            "original_max_position_embeddings": 4096,
        },
    }
    reading = reading_of(json.dumps(config))
    chosen = Chosen("a model", reading, reading.groups[0], "frequency", "bfloat16")
    return chosen, Sliders(Lengths(4096, 16384), 100)


def test_the_view_of_a_models_rope_is_complete() -> None:
    chosen, sliders = models_rope()
    view = rope_shown(chosen, sliders).view()
    data = list(archive(view))[-1]
    assert isinstance(data, bytes)
    name = "posembed-rope-yarn-16384"
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        files = {path.partition("/")[2]: packed.read(path) for path in packed.namelist()}
    assert list(files) == [
        "README.md", f"{name}-pairs.html", f"{name}-scores.html", f"{name}.py", "report.txt",
        "pairs.csv", "pairs.npy", "scores.npy",
    ]  # fmt: skip
    for part, label in (("pairs", "untouched"), ("scores", "bfloat16")):
        own = files[f"{name}-{part}.html"].decode().replace(get_plotlyjs(), "")
        assert "var(--st" not in own
        assert label in own
    assert b"RoPE of a model" in files["report.txt"]
    frequencies = pair_table(chosen.encoding, 16384).after
    assert np.array_equal(np.load(io.BytesIO(files["pairs.npy"]))[:, 2], frequencies)
