"""The layers of a config: a strip with one cell each, and words for models without RoPE."""

from __future__ import annotations

import inspect
import json
import math
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import posembed_core as pc
from pages._ui import live
from pages._ui.long_context.layers import looks
from pages._ui.long_context.pictures import query_positions, query_scale_picture
from pages._ui.long_context.reading import reading_of
from posembed_core.model_config import known_configs
from posembed_core.model_config.report import report_text
from tests.ui.long_context.test_page import PAGE, link, plots, visit, visit_config, words
from tests.visits import arrived

SMOLLM3 = {
    "model_type": "smollm3",
    "hidden_size": 2048,
    "num_attention_heads": 16,
    "num_hidden_layers": 36,
    "rope_theta": 5e6,
    "max_position_embeddings": 65536,
}
OLMO3 = {
    "model_type": "olmo3",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "max_position_embeddings": 65536,
    "sliding_window": 4096,
    "rope_theta": 500000,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 8.0,
        "original_max_position_embeddings": 8192,
    },
}
LLAMA4 = {"model_type": "llama4_text", "num_hidden_layers": 48, "max_position_embeddings": 2**20}
DEEPSEEK = known_configs()["DeepSeek-V3"]
ROTATING = [SMOLLM3, OLMO3, LLAMA4, *known_configs().values()]
# What a type has instead of RoPE, a word of the page's sentence, and where the link leads.
WITHOUT = [
    ({"model_type": "gpt2", "n_positions": 1024, "n_layer": 12}, "learned table", "/table"),
    ({"model_type": "bert", "num_hidden_layers": 12}, "learned table", "/table"),
    ({"model_type": "whisper"}, "sinusoids", "encoding=sinusoidal"),
    ({"model_type": "bloom", "n_head": 16, "n_layer": 24}, "ALiBi", "encoding=alibi"),
    ({"model_type": "t5", "num_heads": 8}, "bucket", "encoding=t5"),
    ({"model_type": "deberta"}, "relative positions", "encoding=deberta"),
    ({"model_type": "mamba"}, "nothing", "encoding=none"),
]


def strip_of(app: AppTest) -> dict[str, Any] | None:
    """What the browser is told of the strip; None where there is none."""
    told = [element.proto for element in app.get("bidi_component") if "strip" in element.proto.id]
    return json.loads(told[0].json) if told else None


@pytest.mark.parametrize("config", ROTATING, ids=lambda config: config["model_type"])
def test_each_layer_is_a_cell_of_the_group_that_does_what_it_does(config: dict[str, Any]) -> None:
    layers = pc.positions_from_config(config).layers
    groups = reading_of(json.dumps(config)).groups
    placed = {layer.index: group for group in groups for layer in group.layers}
    assert sorted(placed) == [layer.index for layer in layers] == list(range(len(layers)))
    assert len({group.name for group in groups}) == len(groups)
    for layer in layers:
        group = placed[layer.index]
        assert group.example.encoding == layer.encoding
        assert group.example.window == layer.window
        assert (group.settings is None) == (layer.encoding is None)
        if group.settings:
            assert group.settings.encoding == layer.encoding
        assert ("turns" in looks(group)) == (layer.encoding is not None)
        assert ("window" in looks(group)) == (layer.window is not None)


def test_the_strip_has_what_the_layers_do() -> None:
    strip = strip_of(visit_config(SMOLLM3))
    assert strip is not None
    assert strip["cells"] == [0, 0, 0, 1] * 9
    rotated, still = strip["kinds"]
    assert rotated["words"].startswith("27 layers of full attention; RoPE; base 5,000,000; 128 of")
    assert still["words"] == "9 layers of full attention; no rotation"
    assert strip["shown"] == 0


def test_a_kind_without_rotation_says_why_and_draws_no_pairs() -> None:
    app = visit_config(SMOLLM3)
    (layers,) = (box for box in app.selectbox if box.label == "Layers")
    layers.select("full_attention-no-rope").run()
    assert not app.exception
    assert plots(app) == 0
    assert app.markdown[0].value == "### These layers don't rotate."
    assert "no_rope_layers" in words(app).replace("\\", "")
    strip = strip_of(app)
    assert strip is not None
    assert strip["shown"] == 1
    assert link(app)["layers"] == "full_attention-no-rope"
    # The same link brings it back.
    again = visit(link(app))
    assert again.markdown[0].value == "### These layers don't rotate."
    assert not again.warning


def test_layers_of_another_config_are_forgotten() -> None:
    app = visit_config(SMOLLM3)
    (layers,) = (box for box in app.selectbox if box.label == "Layers")
    layers.select("full_attention-no-rope").run()
    app.text_area[0].set_value(json.dumps(OLMO3)).run()
    assert not app.exception
    (layers,) = (box for box in app.selectbox if box.label == "Layers")
    assert layers.value == "full_attention"
    assert "RoPE, YaRN" in words(app)


@pytest.mark.parametrize(("config", "word", "leads_to"), WITHOUT, ids=lambda value: str(value)[:30])
def test_a_model_without_rope_says_what_it_has_and_leads_there(
    config: dict[str, Any], word: str, leads_to: str
) -> None:
    app = visit_config(config)
    assert not app.exception
    assert not app.error
    assert app.markdown[0].value == "### This model has no RoPE."
    assert word in words(app)
    assert "base 10,000" not in words(app)
    assert plots(app) == 0
    (leads,) = app.get("page_link")
    url = f"/{leads.proto.page}?{leads.proto.query_string}"
    assert leads_to in url


def test_a_config_that_nobody_knows_is_said_to_be_unknown() -> None:
    app = visit_config({"model_type": "my-own", "hidden_size": 64, "num_hidden_layers": 3})
    assert app.markdown[0].value == "### What this model does with position isn't known."
    assert "my-own" in words(app)
    assert strip_of(app) is None
    assert not app.get("page_link")
    assert plots(app) == 0


def test_a_number_of_layers_that_is_not_given_is_said_to_be_a_default() -> None:
    without = {key: value for key, value in SMOLLM3.items() if key != "num_hidden_layers"}
    assert "doesn't say how many layers" in words(visit_config(without))
    assert "doesn't say how many layers" not in words(visit_config(SMOLLM3))


def test_scaled_queries_are_drawn_at_every_step() -> None:
    app = visit_config(LLAMA4)
    assert plots(app) == 2
    (layers,) = (box for box in app.selectbox if box.label == "Layers")
    layers.select("full_attention-no-rope").run()
    assert plots(app) == 1
    assert r"\ln(1 + \lfloor (i + 1) / 8192 \rfloor)" in words(app)
    queries = pc.positions_from_config(LLAMA4).layers[3].queries
    (curve,) = query_scale_picture(queries).data
    assert {8191, 16383} <= set(curve.x)
    drawn = dict(zip(curve.x, curve.y, strict=True))
    assert drawn == {position: queries(position) for position in curve.x}
    # Between two positions drawn of the first steps nothing happens.
    for before, after in zip(curve.x, curve.x[1:], strict=False):
        if after < 64 * queries.length:
            assert queries(after - 1) == queries(before)


@pytest.mark.parametrize("length", [1, 2, 100, 8192, 16384, 2**20, 10**9])
def test_positions_of_a_curve_rise_and_stay_in_range(length: int) -> None:
    positions = query_positions(length)
    assert positions == sorted(set(positions))
    assert positions[0] == 1


def test_a_factor_of_the_scores_is_said_beside_the_rotation() -> None:
    assert f"multiplied by {(1 + 0.1 * math.log(40)) ** 2:.6g}." in words(visit_config(DEEPSEEK))
    assert "Beside 1/√d" not in words(visit_config(SMOLLM3))


@pytest.mark.parametrize("state", [None, 3, {}, {"pick": None}, {"pick": -1}, {"pick": "0"}])
def test_what_the_browser_sends_of_a_click_may_be_anything(state: object) -> None:
    assert live.strip.picked(state, 2) is None


def choices(config: dict[str, Any]) -> list[str]:
    """What the menu of layers offers."""
    return next(box for box in visit_config(config).selectbox if box.label == "Layers").options


def test_kinds_of_layers_are_called_by_words() -> None:
    assert choices(SMOLLM3) == ["full attention", "full attention, no rotation"]
    still_first = {**SMOLLM3, "num_hidden_layers": 2, "no_rope_layers": [0, 1]}
    assert choices(still_first) == ["full attention", "full attention, no rotation"]
    assert [group.name for group in reading_of(json.dumps(still_first)).groups] == [
        "full_attention", "full_attention-no-rope",
    ]  # fmt: skip
    assert choices(LLAMA4) == ["chunked attention", "full attention, no rotation"]


@pytest.mark.parametrize("config", [*(config for config, _, _ in WITHOUT), SMOLLM3])
def test_layers_without_rotation_have_a_report_and_code(config: dict[str, Any]) -> None:
    params = {"model": "own", "config": json.dumps(config)}
    if config is SMOLLM3:
        params["layers"] = "full_attention-no-rope"
    state = {f"{PAGE}.report": True, f"{PAGE}.code.layers": True}
    app = arrived("long_context", params, state)
    assert not app.exception
    report, source = (code.value for code in app.code)
    model = pc.positions_from_config(config)
    assert report == report_text(model, model.findings)
    assert report.startswith(model.has)
    assert source == inspect.getsource(pc.positions_from_config).rstrip()


def test_what_stands_beside_the_frequencies_is_no_warning() -> None:
    app = visit({"model": "gpt-oss-20b"})
    assert "an attention sink" in words(app)
    assert not app.warning
    axes = visit_config({"model_type": "qwen2_vl_text", "num_hidden_layers": 2})
    assert "from 3 axes, in sections of 16, 24, 24 pairs" in words(axes)
    assert not axes.warning
