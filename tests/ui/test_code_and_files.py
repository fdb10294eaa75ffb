"""The buttons "Code" and "Take away" on every page, as a visitor's session runs them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs
from streamlit.testing.v1 import AppTest

from pages._ui.code import source_of
from pages._ui.figures.two_pictures import Lengths
from pages._ui.long_context_takeaway import Taken
from posembed_core import RotaryEncoding, create
from posembed_core.combine import combine
from posembed_core.scripts import DrawnTokens, combine_script
from posembed_core.takeaway import archive

NAVIGATION = Path(__file__).parents[2] / "pages" / "navigation.py"


def opened(page: str, button: str, **params: str) -> AppTest:
    """A page with one of its buttons open."""
    app = AppTest.from_file(str(NAVIGATION), default_timeout=60)
    app.run()
    if page != "combine.py":
        app.switch_page(page)
    for name, value in params.items():
        app.query_params[name] = value
    app.session_state[button] = True
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize(
    ("page", "key", "said"),
    [
        ("combine.py", "combine.code", "two_m = torch.arange(0, embed_dim, 2"),
        ("attention.py", "attention.code", "scores.softmax(-1)"),
        ("long_context.py", "long-context.code", "low_freq_factor = 1.0"),
        ("table.py", "table.code", "torch.optim.AdamW"),
    ],
)
def test_every_page_shows_its_code(page: str, key: str, said: str) -> None:
    app = opened(page, key)
    assert any(said in code.value and "posembed" not in code.value for code in app.code)


def test_nothing_is_made_before_a_button_is_opened() -> None:
    app = AppTest.from_file(str(NAVIGATION), default_timeout=60).run()
    assert not app.exception
    assert [code.value for code in app.code] == []
    assert app.get("download_button") == []


def test_the_script_is_that_of_the_setting() -> None:
    params = {"encoding": "alibi", "scale": "0.5", "token_seed": "7", "at": "1"}
    app = opened("combine.py", "combine.code", **params)
    expected = combine_script(DrawnTokens(128, 64, seed=7), create("alibi"), scale=0.5, at=[1])
    assert expected.strip() in [code.value.strip() for code in app.code]


def test_the_source_is_the_cores_own() -> None:
    app = opened("combine.py", "combine.code")
    menu = next(box for box in app.selectbox if box.label == "What")
    menu.set_value("Source of combine").run()
    assert source_of(combine).strip() in [code.value.strip() for code in app.code]
    assert "def combine(" in source_of(combine)
    assert "where = torch.arange(n)" in source_of(combine)


def test_what_can_be_taken_away_is_listed() -> None:
    app = opened("attention.py", "attention.take")
    menu = next(box for box in app.selectbox if box.label == "Array")
    assert len(menu.options) == 2 * (len(menu.options) // 2) > 2
    assert any(option.startswith("rope-scores, ") for option in menu.options)
    labels = [button.label for button in app.get("download_button")]
    assert any(label.startswith("Download npy") for label in labels)
    assert any(label.startswith("Download zip") for label in labels)


def test_a_table_of_a_model_has_no_script_of_an_encoding_without_one() -> None:
    app = opened("combine.py", "combine.code", tokens="sentence", encoding="model")
    script = next(code.value for code in app.code)
    assert 'weight("position_embeddings.weight", "wpe.weight")' in script


def test_a_models_rope_can_be_taken_away() -> None:
    app = opened("long_context.py", "long-context.take")
    menu = next(box for box in app.selectbox if box.label == "Array")
    assert [option.split(",")[0] for option in menu.options] == ["pairs", "scores"]
    labels = [button.label for button in app.get("download_button")]
    assert any(label.startswith("HTML") for label in labels)
    assert any(label.startswith("Download zip") for label in labels)


def test_the_view_of_a_models_rope_is_complete() -> None:
    encoding = create("rope-yarn", head_dim=32)
    assert isinstance(encoding, RotaryEncoding)
    view = Taken("a model", encoding, Lengths(4096, 16384), 100, "frequency").view()
    names = zipfile.ZipFile(io.BytesIO(list(archive(view))[-1])).namelist()
    assert [Path(name).name for name in names] == [
        "README.md", "posembed-rope-yarn-16384.html", "posembed-rope-yarn-16384.py",
        "pairs.npy", "scores.npy",
    ]  # fmt: skip
    assert "var(--st" not in view.picture().replace(get_plotlyjs(), "")
