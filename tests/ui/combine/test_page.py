"""The landing page as a visitor's session runs it: presets, the URL, sentences, errors."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import posembed_core as pc
from pages._ui.server.installed_model import needed_model, sentence
from pages._ui.server.kept import RESULTS
from pages._ui.server.matrices import MATRICES
from pages._ui.server.pictures import PICTURES
from posembed_core.parameters import Choice, Flag, Integer, Number, Parameter, Real, Reals
from posembed_core.tokens.sentence_model import HOW_TO_GET_A_MODEL
from tests.visits import arrived

SLUGS = list(pc.encodings())
SLIDERS = ("length", "dimension", "scale")
TEXT = "The keys to the cabinet are on the table."


@pytest.fixture
def fresh() -> Iterator[None]:
    """No sentence of another model is left in the caches, before or after."""
    for store in (PICTURES, RESULTS):
        store.clear()
    yield
    for store in (PICTURES, RESULTS):
        store.clear()


def visit(**params: str) -> AppTest:
    """The page at a link."""
    return arrived("combine", params)


def url(app: AppTest) -> dict[str, str]:
    """The settings in the URL (a list where the visitor's link has them, else a text)."""
    params = dict(app.query_params)
    return {name: value[0] if isinstance(value, list) else value for name, value in params.items()}


def components(app: AppTest) -> dict[str, Any]:
    """The page's own browser components by their keys, without ``combine.``."""
    by_key = {str(element.proto.id).rpartition("-combine.")[2]: element.proto
             for element in app.get("bidi_component")}  # fmt: skip
    return {
        key: proto for key, proto in by_key.items() if key in {*SLIDERS, "plot"} or "fixed" in key
    }


def slider(app: AppTest, name: str) -> dict[str, Any]:
    """The message that a live slider got."""
    told: dict[str, Any] = json.loads(components(app)[name].json)
    return told


def warnings(app: AppTest) -> list[str]:
    return [warning.value for warning in app.warning]


def header(app: AppTest) -> dict[str, Any]:
    """The picture's message, without the numbers of its curves."""
    plot = components(app)["plot"].bytes
    told: dict[str, Any] = json.loads(plot[4 : 4 + int.from_bytes(plot[:4], "little")])
    return told


def table(app: AppTest) -> list[list[str]]:
    """The rows of the table of numbers at chosen positions."""
    (body,) = [note["rows"] for note in header(app)["notes"] if note["kind"] == "table"]
    rows: list[list[str]] = body
    return rows


def lines(app: AppTest, kind: str) -> str:
    """The sentences of one kind under the picture."""
    return " ".join(note["text"] for note in header(app)["notes"] if note["kind"] == kind)


def works(app: AppTest) -> bool:
    """Whether the page has its sliders and a picture."""
    # Nothing is scaled where there is no position.
    sliders = {*SLIDERS} - ({"scale"} if url(app).get("encoding") == "none" else set())
    return {*sliders, "plot"} <= components(app).keys() and not app.error


def first_values(cell: str) -> list[str]:
    return cell.strip("[]").replace("\u00a0 …", "").split("\u00a0")


# --- the default, and the handbook ---


def test_the_first_look_needs_no_click() -> None:
    app = visit()
    assert not app.warning
    assert works(app)
    assert [row[0] for row in table(app)] == ["0", "5", "9"]
    assert (slider(app, "length")["value"], slider(app, "dimension")["value"]) == (128, 64)
    assert slider(app, "scale")["value"] == 1.0
    assert url(app) == {}
    assert header(app)["mixes"] == {
        "token": [["token", 1.0]],
        "position": [["position", 1.0]],
        "combined": [["token", 1.0], ["position", 1.0]],
    }
    assert "128 token vectors of 64 dimensions" in header(app)["alt"]


def press(app: AppTest, preset: str) -> AppTest:
    (button,) = [button for button in app.button if preset in button.label]
    button.click().run()
    assert not app.exception
    assert not app.warning
    assert works(app)
    return app


def test_preset_the_table() -> None:
    app = press(visit(), "seed 42")
    assert (slider(app, "length")["value"], slider(app, "dimension")["value"]) == (128, 64)
    assert [first_values(row[5]) for row in table(app)] == [
        ["0.062", "−0.017", "0.081", "0.190", "−0.029"],
        ["0.102", "0.170", "−0.009", "0.125", "0.045"],
        ["0.012", "−0.063", "−0.194", "0.009", "−0.133"],
        ["0.027", "−0.156", "0.022", "0.048", "−0.110"],
        ["0.158", "−0.088", "0.055", "0.097", "−0.116"],
    ]


def test_preset_combining() -> None:
    app = press(visit(), "Combining")
    assert slider(app, "length")["value"] == 10
    assert [row[:4] for row in table(app)] == [
        ["0", "4.709", "0.910", "4.554"],
        ["5", "3.886", "0.881", "3.958"],
        ["9", "4.019", "1.000", "4.333"],
    ]


def test_preset_injection() -> None:
    app = press(visit(), "Injection")
    assert (slider(app, "length")["value"], slider(app, "dimension")["value"]) == (4, 8)
    row = table(app)[0]
    assert first_values(row[4])[:4] == ["−1.254", "−0.638", "0.907", "−1.429"]
    assert first_values(row[5])[:4] == ["0.089", "0.175", "0.150", "0.107"]
    assert first_values(row[6])[:4] == ["−1.165", "−0.462", "1.057", "−1.322"]


def test_presets_one_after_another_leave_nothing_behind() -> None:
    app = visit(scale="2.5", encoding="rope", layer_norm="true")
    for preset in ("Injection", "seed 42", "Combining"):
        press(app, preset)
    assert url(app) == {"encoding": "learned", "length": "10"}
    assert table(app)[2][:4] == ["9", "4.019", "1.000", "4.333"]
    assert slider(app, "scale")["value"] == 1.0


# --- the URL ---


def other(parameter: Parameter, default: Any) -> list[Any]:
    """Legal values other than the default."""
    match parameter:
        case Choice():
            return [option for option in parameter.options if option != default]
        case Flag():
            return [not default]
        case Integer():
            near = [default + 1, default - 1, default * 2, parameter.low, parameter.high]
            return [int(x) for x in near if parameter.low <= x <= parameter.high and x != default]
        case Real():
            start = parameter.low if default is None else default
            near = [start * 1.5, start + 0.25, start / 2, parameter.high, parameter.low]
            return [float(x) for x in near if parameter.low <= x <= parameter.high and x != default]
        case Reals():
            return [(1.5,) * count for count in range(1, 65)]  # for each pair, or for each head
    raise TypeError(parameter)


def options(slug: str) -> dict[str, Parameter]:
    return {n: p for n, p in pc.encodings()[slug].parameters().items() if p.role == "option"}


def fits(slug: str, **fields: Any) -> bool:
    try:
        pc.create(slug, **fields)
    except pc.EncodingError:
        return False
    return True


def changed_fields(slug: str) -> dict[str, Any]:
    """Every option of an encoding at a value other than its default, if they fit together."""
    defaults = {item.name: item.default for item in dataclasses.fields(pc.encodings()[slug])}
    chosen: dict[str, Any] = {}
    for name, parameter in options(slug).items():
        values = (v for v in other(parameter, defaults[name]) if fits(slug, **chosen, **{name: v}))
        value = next(values, None)
        if value is not None:
            chosen[name] = value
    return chosen


def shown_value(app: AppTest, name: str) -> Any:
    """What the widget of a setting shows."""
    kinds = (app.selectbox, app.toggle, app.number_input, app.text_input)
    (widget,) = [
        candidate for kind in kinds for candidate in kind if candidate.key == f"combine.{name}"
    ]
    return widget.value


@pytest.mark.parametrize("slug", SLUGS)
def test_every_encoding_and_option_survives_the_url(slug: str) -> None:
    chosen, parameters = changed_fields(slug), options(slug)
    # Two fields may exclude each other; all others are changed.
    assert len(parameters) - len(chosen) <= 1
    params = {name: parameters[name].format(value) for name, value in chosen.items()}
    params |= {} if slug == "sinusoidal" else {"encoding": slug}
    app = visit(**params)
    assert warnings(app) == []
    assert works(app)
    for _ in range(2):
        assert url(app) == params
        for name, value in chosen.items():
            seen = shown_value(app, name)
            assert (
                parameters[name].parse(name, str(seen).replace(" ", "_")) == value
                if isinstance(parameters[name], Reals)
                else seen == value
            )
        app.run()


EVERYTHING = {
    "encoding": "sinusoidal", "length": "33", "dimension": "12", "scale": "0.37",
    "token_seed": "7", "token_std": "1.25", "token_skip": "3", "operation": "concat",
    "layer_norm": "true", "sqrt_dim": "true", "at": "0_32", "cell": "3_4", "base": "500",
    "layout": "concatenated",
}  # fmt: skip


def test_every_setting_of_the_page_survives_the_url() -> None:
    app = visit(**EVERYTHING)
    expected = {name: value for name, value in EVERYTHING.items() if name != "encoding"}
    assert warnings(app) == []
    assert works(app)
    assert url(app) == expected
    assert [slider(app, name)["value"] for name in SLIDERS] == [33, 12, 0.37]
    assert (shown_value(app, "operation"), shown_value(app, "at")) == ("concat", "0 32")
    assert (shown_value(app, "token_seed"), shown_value(app, "token_std")) == (7, 1.25)
    assert "h[3, 4]" in lines(app, "arithmetic")
    # Another session that follows the link shows the same numbers.
    again = visit(**url(app))
    assert header(again) == header(app)
    assert [b.value for b in again.markdown] == [b.value for b in app.markdown]


def test_a_biass_head_survives_the_url() -> None:
    app = visit(encoding="alibi", head="8", cell="3_9_1")
    assert url(app) == {"encoding": "alibi", "head": "8", "cell": "3_9_1"}
    assert "Head 8, query 9, key 3" in lines(app, "arithmetic")


def test_defaults_in_a_link_are_dropped() -> None:
    app = visit(encoding="sinusoidal", length="128", scale="1.0", layer_norm="false", at="0_5_9")
    assert warnings(app) == []
    assert url(app) == {}


def test_a_new_link_in_the_same_session_is_followed() -> None:
    app = visit(encoding="learned", length="10", seed="42")
    app.query_params.clear()
    app.query_params["encoding"] = "rope"
    app.query_params["dimension"] = "16"
    app.run()
    assert not app.exception
    assert url(app) == {"encoding": "rope", "dimension": "16"}
    assert (slider(app, "length")["value"], slider(app, "dimension")["value"]) == (128, 16)
    assert shown_value(app, "encoding") == "rope"


def test_widgets_write_the_url() -> None:
    app = visit()
    app.selectbox(key="combine.encoding").set_value("learned").run()
    assert url(app) == {"encoding": "learned"}
    app.toggle(key="combine.layer_norm").set_value(True).run()
    app.number_input(key="combine.seed").set_value(7).run()
    app.text_input(key="combine.at").set_value("1, 2 3").run()
    assert url(app) == {"encoding": "learned", "layer_norm": "true", "seed": "7", "at": "1_2_3"}
    assert [row[0] for row in table(app)] == ["1", "2", "3"]
    app.selectbox(key="combine.encoding").set_value("sinusoidal").run()
    assert url(app) == {"layer_norm": "true", "at": "1_2_3"}
    assert not app.exception
    assert not app.warning


BAD: list[tuple[dict[str, str], tuple[str, ...], dict[str, str]]] = [
    ({"scale": "nine"}, ("scale=nine", "a number", "instead: 1"), {}),
    ({"scale": "7"}, ("scale=7", "between 0 and 5", "instead: 5"), {"scale": "5"}),
    ({"scale": "nan"}, ("scale=nan", "a number", "instead: 1"), {}),
    ({"scale": "-1"}, ("scale=-1", "between 0 and 5", "instead: 0"), {"scale": "0"}),
    ({"scale": "0.305"}, ("scale=0.305", "steps of 0.01", "instead: 0.31"), {"scale": "0.31"}),
    ({"length": "9000"}, ("length=9000", "between 1 and 8192", "instead: 8192"),
     {"length": "8192"}),
    ({"length": "0"}, ("length=0", "between 1 and 8192", "instead: 1"), {"length": "1"}),
    ({"length": "2.5"}, ("length=2.5", "whole number", "instead: 128"), {}),
    ({"dimension": "1"}, ("dimension=1", "between 2 and 4096", "instead: 2"), {"dimension": "2"}),
    ({"dimension": "9" * 300}, ("dimension=999", "between 2 and 4096", "instead: 4096"),
     {"dimension": "4096"}),
    ({"encoding": "sinusoidall"}, ("encoding=sinusoidall", "'rope'", "instead: sinusoidal"), {}),
    ({"encoding": "rope", "dimension": "65"}, ("dimension=65", "steps of 2", "instead: 66"),
     {"encoding": "rope", "dimension": "66"}),
    ({"operation": "subtract"}, ("operation=subtract", "'concat'", "instead: add"), {}),
    ({"layer_norm": "yes"}, ("layer_norm=yes", "true or false", "instead: false"), {}),
    ({"at": "1_x"}, ("at=1_x", "at most 8 whole numbers", "instead: 0_5_9"), {}),
    ({"at": "0_1_2_3_4_5_6_7_8"}, ("at=0_1_2", "at most 8", "instead: 0_5_9"), {}),
    ({"cell": "here"}, ("cell=here", "whole numbers", "instead: none"), {}),
    ({"base": "0.5"}, ("base=0.5", "between 1 and 1000000000000", "instead: 1"), {"base": "1"}),
    ({"token_seed": "-1"}, ("token_seed=-1", "between 0 and 4294967295", "instead: 0"),
     {"token_seed": "0"}),
    ({"token_std": "inf"}, ("token_std=inf", "finite", "instead: 0.5"), {}),
    ({"encoding": "alibi", "head": "0"}, ("head=0", "between 1 and 256", "instead: 1"),
     {"encoding": "alibi"}),
    ({"encoding": "kerple", "bias_p": "-1"}, ("bias_p=-1", "bias_p[0]", "instead: none"),
     {"encoding": "kerple"}),
    ({"bogus": "1"}, ("'bogus'", "not a setting", "ignored"), {}),
    ({"pairing": "half"}, ("'pairing'", "not a setting", "ignored"), {}),
]  # fmt: skip


@pytest.mark.parametrize(("params", "parts", "kept"), BAD, ids=[str(case[0])[:40] for case in BAD])
def test_a_bad_link_is_named_and_repaired(
    params: dict[str, str], parts: tuple[str, ...], kept: dict[str, str]
) -> None:
    app = visit(**params)
    (warning,) = warnings(app)
    assert all(part in readable(warning) for part in parts)
    assert len(warning) < 700
    assert works(app)
    assert url(app) == kept
    app.run()
    assert warnings(app) == []


def test_several_faults_are_several_notices() -> None:
    app = visit(scale="9", length="x", bogus="1", base="0")
    assert len(warnings(app)) == 4
    assert works(app)


def readable(markdown: str) -> str:
    """What a reader sees of Markdown with escaped signs."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


@pytest.mark.parametrize("name", ["scale", "encoding", "at", "<b>", "![x](http://example.com/x)"])
@pytest.mark.parametrize(
    "value",
    ["![x](http://example.com/x.png)", "[a](http://example.com)", "**b**", "$x$", "`c`", ":red[x]"],
)
def test_a_link_cannot_put_markup_on_the_page(name: str, value: str) -> None:
    # Somebody else may have written the link: it may bring no picture, address or mathematics.
    for warning in warnings(visit(**{name: value})):
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", warning)
        assert not re.search(r"[\[\]*`$<~]|:[a-z]", bare)
        assert "://" not in bare


# --- sentences ---


def test_a_sentence_shows_its_tokens_in_the_models_width() -> None:
    app = visit(tokens="sentence", text="Unbelievable keys", at="0_1_2_3")
    assert warnings(app) == []
    words = [re.findall(r"`(.*)`", row[0])[0] for row in table(app)]
    assert words == list(sentence("Unbelievable keys").tokens[:4])
    assert words[0] == "[CLS]"
    told = json.loads(components(app)["dimension.fixed"].json)
    assert (told["value"], told["disabled"]) == (384, True)
    assert "model" in told["label"]


def test_a_sentence_with_the_models_own_table() -> None:
    app = visit(tokens="sentence", encoding="model", at="1")
    model = needed_model()
    c = pc.combine(model.embed(model.tokenize(TEXT)), model.positions)
    (row,) = table(app)
    assert row[0] == "1 `the`"
    assert row[3] == f"{float(c.norms().combined[1]):.3f}"
    assert model.layer_norm is not None
    normalised = model.layer_norm(c.combined)[1]
    assert first_values(row[7])[0] == f"{float(normalised[0]):.3f}".replace("-", "−")
    assert slider(app, "length")["value"] == 128


def test_choosing_sentences_takes_the_models_table_and_back() -> None:
    app = visit()
    app.selectbox(key="combine.tokens").set_value("sentence").run()
    assert url(app) == {"tokens": "sentence", "encoding": "model"}
    assert not app.warning
    app.selectbox(key="combine.tokens").set_value("random").run()
    assert url(app) == {}
    assert works(app)


def test_the_models_table_needs_a_sentence() -> None:
    app = visit(encoding="model")
    (warning,) = warnings(app)
    assert "encoding=model" in readable(warning)
    assert works(app)


MARKUP = "a | b * c [d](http://x) $f$ `g` <b>h</b> :red[i]"


def test_markup_in_a_sentence_is_text(fresh: None) -> None:
    n = len(sentence(MARKUP).ids)
    at = "_".join(map(str, range(1, 9)))
    app = visit(tokens="sentence", text=MARKUP, at=at)
    rows = table(app)
    assert n > 9
    assert len(rows) == 8
    assert {len(row) for row in rows} == {8}
    assert [row[0] for row in rows[:4]] == ["1 `a`", "2 `|`", "3 `b`", "4 `*`"]


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug != "learned"])
def test_every_encoding_takes_a_sentence(slug: str) -> None:
    app = visit(tokens="sentence", encoding=slug)
    assert not app.error
    assert warnings(app) == []
    assert len(table(app)) == 3


@pytest.mark.parametrize("operation", ["add", "multiply", "concat"])
@pytest.mark.parametrize("layer_norm", ["true", "false"])
def test_every_operation_takes_a_sentence(operation: str, layer_norm: str) -> None:
    app = visit(tokens="sentence", encoding="model", operation=operation, layer_norm=layer_norm)
    assert not app.exception
    assert not app.error
    assert len(table(app)) == 3


@pytest.mark.parametrize("slug", ["model", "learned", "sinusoidal", "alibi", "shaw", "rope"])
def test_max_length_cuts_a_sentence(slug: str) -> None:
    app = visit(tokens="sentence", encoding=slug, length="4", at="0_3_4")
    assert not app.error
    words = [re.findall(r"`(.*)`", row[0])[0] for row in table(app)]
    tokens = sentence(TEXT).tokens
    assert words == [tokens[0], tokens[3]]
    told = lines(app, "aside")
    assert "There is no position 4: positions go from 0 to 3." in told
    assert f"Max length cuts the sentence: 4 of its {len(tokens)} tokens are shown." in told
    whole = visit(tokens="sentence", encoding=slug, length=f"{len(tokens)}")
    assert "cuts the sentence" not in lines(whole, "aside")


def test_a_sentence_longer_than_the_models_table_names_both_numbers() -> None:
    for slug in ("model", "sinusoidal"):
        app = visit(tokens="sentence", encoding=slug, text="a " * 600, length="8192")
        (error,) = [error.value for error in app.error]
        assert "512 rows" in error
        assert "602" in error or "601" in error


def test_an_empty_sentence_is_two_special_tokens() -> None:
    app = visit(tokens="sentence", text="", at="0_1")
    assert [row[0] for row in table(app)] == ["0 `[CLS]`", "1 `[SEP]`"]


def test_a_text_too_long_for_a_link_is_reported() -> None:
    app = visit(tokens="sentence", text="a" * 5000)
    (warning,) = warnings(app)
    assert "text=aaa" in readable(warning)
    assert "4000" in warning
    assert len(warning) < 300


def test_without_a_model_one_sentence_and_all_else_works(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POSEMBED_MODEL", str(tmp_path))
    for params in ({"encoding": "model"}, {"encoding": "sinusoidal"}, {"encoding": "rope"}):
        app = visit(tokens="sentence", **params)
        (info,) = [info.value for info in app.info]
        assert HOW_TO_GET_A_MODEL in info
        assert not app.error
        assert "plot" not in components(app)
    app = visit(tokens="sentence", length="40", scale="0.5")
    assert url(app) == {"tokens": "sentence", "length": "40", "scale": "0.5"}
    app.selectbox(key="combine.tokens").set_value("random").run()
    assert not app.exception
    assert works(app)
    assert url(app) == {"length": "40", "scale": "0.5"}


@pytest.mark.parametrize("cell", ["500_3", "3_64", "3_4_1", "3"])
def test_a_cell_that_does_not_exist_is_reported(cell: str) -> None:
    app = visit(cell=cell)
    (warning,) = warnings(app)
    assert "not a cell of this picture" in warning
    assert url(app) == {}


# --- settings that don't fit, each one sentence, and the page stays usable ---


@pytest.mark.parametrize(
    ("params", "parts"),
    [
        ({"encoding": "rope", "rotary_fraction": "0.3"}, ("got 19", "0.3", "64", "even")),
        ({"encoding": "rope", "operation": "concat"}, ("'concat'", "RoPE", "'add'")),
        ({"encoding": "alibi", "operation": "multiply"}, ("'multiply'", "ALiBi", "'add'")),
        ({"encoding": "alibi", "head": "9"}, ("ead 9", "8 heads")),
        ({"encoding": "rope-longrope", "short_factor": "1_2"}, ("hort_factor", "2", "32")),
        ({"encoding": "kerple", "bias_p": "1_1"}, ("ias_p", "2", "8")),
    ],
    ids=lambda case: str(case)[:50],
)
def test_what_does_not_fit_is_one_sentence(params: dict[str, str], parts: tuple[str, ...]) -> None:
    app = visit(**params)
    (error,) = [error.value for error in app.error]
    assert all(part in error for part in parts)
    assert error[0].isupper() or "_" in error.split()[0]  # a setting keeps its name
    assert error.endswith(".")
    assert not error.endswith("..")
    assert set(SLIDERS) <= components(app).keys()
    # The link keeps what was asked for, so that a reload asks for the same.
    assert url(app) == params


def test_a_position_beyond_the_length_is_reported() -> None:
    app = visit(at="0_127_128_500")
    assert [row[0] for row in table(app)] == ["0", "127"]
    assert "There are no positions 128 and 500: positions go from 0 to 127." in lines(app, "aside")


def test_without_positions_there_is_no_row() -> None:
    app = visit(at="")
    assert works(app)
    assert warnings(app) == []


def test_one_position_and_two_dimensions() -> None:
    for slug in SLUGS:
        app = visit(encoding=slug, length="1", dimension="2", at="0")
        assert not app.error
        assert len(table(app)) == 1


def test_the_largest_picture() -> None:
    app = visit(length="8192", dimension="4096", scale="0.5")
    assert works(app)
    assert "one of 16 × 16 values" in lines(app, "aside")
    MATRICES.clear()


def test_a_mapping_of_every_default_is_legal() -> None:
    # `other` above must have found a value for every option.
    for slug in SLUGS:
        for name, parameter in options(slug).items():
            assert isinstance(parameter, Choice | Flag | Number | Reals), name
