"""The page about a model's config, as a visitor's session runs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from posembed_core.model_config import known_configs
from tests.visits import arrived

PAGE = "long-context"
YARN = {
    "head_dim": 64,
    "max_position_embeddings": 16384,
    "rope_theta": 10000.0,
    "rope_scaling": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 4096},
}


def visit(params: Mapping[str, str] | None = None, *, report: bool = False) -> AppTest:
    """The page at a link, with or without its report open."""
    return arrived("long_context", params, {f"{PAGE}.report": True} if report else None)


def visit_config(config: Any) -> AppTest:
    """The page at a link with a config of the visitor's own."""
    return visit(
        {"model": "own", "config": config if isinstance(config, str) else json.dumps(config)}
    )


def link(app: AppTest) -> dict[str, str]:
    """The page's settings in the URL (a list where the visitor's link has it, else a text)."""
    params = dict(app.query_params)
    return {name: value[0] if isinstance(value, list) else value for name, value in params.items()}


def plots(app: AppTest) -> int:
    """How many charts there are (the other components are sliders)."""
    return sum(b"figure" in element.proto.bytes for element in app.get("bidi_component"))


def words(app: AppTest) -> str:
    """All that the page says in Markdown."""
    return "\n".join(element.value for element in app.markdown)


@pytest.mark.parametrize("name", known_configs())
def test_every_well_known_model_is_drawn_without_a_finding(name: str) -> None:
    app = visit({"model": name.lower().replace(" ", "-")}, report=True)
    assert plots(app) == 2
    assert not app.warning
    assert not app.error
    assert json.loads(app.text_area[0].value) == known_configs()[name]
    assert f"RoPE of {name}" in app.code[0].value


def test_the_first_visit_shows_llama_3() -> None:
    app = visit()
    assert app.selectbox[0].value == "llama-3.1-8b"
    assert link(app) == {}
    text = words(app)
    assert "29 untouched, 6 blended, 29 interpolated" in text
    assert "base 500,000 (rope\\_theta)" in text or "base 500,000 (rope_theta)" in text


def test_the_page_begins_with_the_question_of_its_config() -> None:
    assert visit().markdown[0].value == "### Trained on 8,192 tokens, asked for 131,072. How?"
    config = dict(known_configs()["Llama 3.1 8B"], rope_scaling=None)
    alone = visit_config(config | {"max_position_embeddings": 4096})
    assert alone.markdown[0].value == "### Trained on 4,096 tokens, and asked for no more."


def test_layers_with_rope_of_their_own_can_be_chosen() -> None:
    app = visit({"model": "gemma-3-4b"})
    (layers,) = (box for box in app.selectbox if box.label == "Layers")
    assert layers.options == ["full attention", "sliding attention"]
    layers.select("sliding_attention").run()
    assert link(app)["layers"] == "sliding_attention"
    assert "base 10,000 (rope_local_base_freq)" in words(app)


def test_pairs_that_stand_still_are_counted_and_drawn() -> None:
    block = {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6}
    app = visit_config({"head_dim": 64, "rope_parameters": block})
    assert "8 untouched, 24 still" in words(app)
    assert plots(app) == 2


def test_an_edited_config_is_the_visitors_own_and_in_the_link() -> None:
    app = visit()
    app.text_area[0].set_value(json.dumps(YARN, indent=4)).run()
    assert not app.exception
    assert app.selectbox[0].value == "own"
    assert json.loads(link(app)["config"]) == YARN
    assert "RoPE, YaRN" in words(app)
    # The link brings it back, formatted.
    again = visit_config(YARN)
    assert json.loads(again.text_area[0].value) == YARN
    assert "\n" in again.text_area[0].value
    # A model from the menu replaces it.
    app.selectbox[0].select("gpt-neox-20b").run()
    assert link(app) == {"model": "gpt-neox-20b"}
    assert json.loads(app.text_area[0].value) == known_configs()["GPT-NeoX 20B"]


def test_warnings_are_shown_and_the_pictures_drawn() -> None:
    odd = {**YARN, "rope_scaling": {**YARN["rope_scaling"], "attention_factor": 1.0, "beta": 1}}
    app = visit_config(odd)
    text = " ".join(element.value for element in app.warning)
    assert "cancels the default 1.13863" in text
    assert "is not known to be read by type 'yarn'" in text
    assert plots(app) == 2


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ('{"head_dim": 64,\n "rope_theta": }', "Line 2, column 16: not JSON"),
        ("", "The config is empty"),
        ("[" * 1000, "nested deeper than 32"),
        ('{"head_dim": NaN, "rope_theta": 1e4}', "a finite number of at most 10^15, got nan"),
        ({"head_dim": "64", "rope_theta": 1e4}, "got the text '64'"),
        ({**YARN, "rope_scaling": {"type": "yarm"}}, "did you mean 'yarn'"),
        ('{"head_dim": ' + "9" * 400 + "}", "a whole number of 400 digits"),
    ],
)
def test_a_config_that_says_nothing_gets_a_sentence(config: Any, sentence: str) -> None:
    app = visit_config(config)
    (error,) = app.error
    assert sentence in error.value.replace("\\", "")
    assert plots(app) == 0


def test_a_python_dict_is_offered_as_json_and_read_after_a_click() -> None:
    app = visit_config(repr({**YARN, "tie_word_embeddings": True, "bos_token_id": None}))
    assert "not JSON but a Python dict" in app.error[0].value
    assert plots(app) == 0
    (button,) = (button for button in app.button if button.label == "Read it as JSON")
    button.click().run()
    assert not app.error
    assert plots(app) == 2
    assert json.loads(app.text_area[0].value)["rope_scaling"] == YARN["rope_scaling"]
    assert json.loads(link(app)["config"])["bos_token_id"] is None
    assert "Read it as JSON" not in [button.label for button in app.button]


def test_a_config_too_long_for_the_link_is_still_drawn() -> None:
    app = visit()
    long = {**known_configs()["Phi-3 mini 128k"], "note": "x" * 3000}
    app.text_area[0].set_value(json.dumps(long)).run()
    assert plots(app) == 2
    assert "config" not in link(app)
    assert any("Too long for the link" in element.value for element in app.caption)


def test_lengths_come_from_the_config_and_from_the_link() -> None:
    assert link(visit_config(YARN)).keys() == {"model", "config"}
    text = words(visit_config(YARN))
    assert "Of 32 pairs at 16,384 tokens" in text
    assert "over the 4,096 positions of training" in text
    text = words(
        visit({"model": "own", "config": json.dumps(YARN), "wanted": "32768", "trained": "2048"})
    )
    assert "Of 32 pairs at 32,768 tokens" in text
    assert "over the 2,048 positions of training" in text


def test_a_length_that_is_not_given_is_not_made_up() -> None:
    app = visit_config({"model_type": "llama", "head_dim": 64, "rope_theta": 10000.0})
    assert app.markdown[0].value == "### This config gives no length."
    assert "of training" not in words(app)
    assert "in training" not in words(app)
    assert "doesn't say on how many tokens" in words(app)
    told = visit_config({"head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 2048})
    assert "over the 2,048 positions of training" in words(told)
    assert "doesn't say on how many tokens" not in words(told)


def test_gemma_3_was_not_trained_on_the_length_that_it_is_asked_for() -> None:
    app = visit({"model": "gemma-3-4b"}, report=True)
    assert app.markdown[0].value == (
        "### Asked for 131,072 tokens; how many it was trained on isn't said."
    )
    assert "of training" not in words(app)
    assert "of training" not in app.code[0].value


def test_lengths_up_to_16_million_are_shown_whole_and_longer_ones_named() -> None:
    config = {"head_dim": 64, "rope_theta": 5e5, "max_position_embeddings": 10_485_760}
    app = visit_config(config)
    assert app.markdown[0].value == "### Trained on 10,485,760 tokens, and asked for no more."
    assert "Of 32 pairs at 10,485,760 tokens" in words(app)
    assert "this page goes to" not in words(app)
    app = visit_config(config | {"max_position_embeddings": 10**9})
    assert app.markdown[0].value == "### Trained on 1,000,000,000 tokens, and asked for no more."
    longer = words(app)
    assert "asks for 1,000,000,000 tokens; this page goes to 16,777,216" in longer


def test_a_factor_sets_the_wanted_length_where_no_length_was_raised() -> None:
    text = words(visit({"model": "qwen2.5-7b-with-yarn"}))
    assert "Of 64 pairs at 131,072 tokens" in text
    assert "over the 32,768 positions of training" in text


def test_rounded_numbers_stand_beside_exact_ones() -> None:
    app = visit({"precision": "bfloat16", "position": "257"})
    text = words(app)
    assert "| position | 257 | 256 | −1 |" in text
    assert "257 becomes 256, and of 131,072 positions only 1,409 are still different" in text
    app = visit({"position": "257"})
    assert "| position | 257 | 257 | 0 |" in words(app)
    assert "the first to collide would be 16,777,217, which becomes 16,777,216" in words(app)


def test_a_bad_link_is_corrected_and_reported() -> None:
    app = visit({"model": "gpt-9", "wanted": "-5", "precision": "float8", "colour": "red"})
    text = " ".join(element.value for element in app.warning)
    for word in ("gpt-9", "wanted=", "float8", "colour"):
        assert word in text
    assert plots(app) == 2


def test_nothing_is_made_before_a_button_is_opened() -> None:
    app = visit()
    assert not app.code
    assert not app.get("download_button")


def test_the_report_is_that_of_the_sliders() -> None:
    app = visit({"wanted": "32768", "trained": "2048"}, report=True)
    assert "pairs at 32,768 tokens" in app.code[0].value
    assert "over the 2,048 positions of training" in app.code[0].value
