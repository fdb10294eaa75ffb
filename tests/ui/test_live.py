"""The live components without a browser: their bytes, their input and their routes."""

import gzip
import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from pages._ui.live import pack_array, pack_figure, plot
from pages._ui.live.assets import parts_url, plotly_url, stub
from pages._ui.live.packets import packet
from pages._ui.live.plot import Click, _read_click, _read_zoom
from pages._ui.live.serving import middleware, routes
from pages._ui.live.shelf import Shelf, shelf
from pages._ui.live.slider import _browser_state, _split_format, snap

TYPES = {"i2": "<i2", "f4": "<f4", "u1": "u1"}


def unpack(data):
    """Header and buffers of a packet, as the browser reads them."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    at = 4 + length
    arrays = []
    for dtype, count in header["buffers"]:
        assert at % 8 == 0
        arrays.append(np.frombuffer(data, TYPES[dtype], count, at))
        at += -(-arrays[-1].nbytes // 8) * 8
    assert at == len(data)
    return header, arrays


def decoded(packed):
    header, [cells] = unpack(packed.data)
    values = header["offset"] + header["step"] * cells.astype(float)
    if cells.dtype == np.int16:
        values[cells == -32768] = np.nan
    return values.reshape(packed.shape)


cells = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=3, max_side=6),
    elements=st.floats(-1e6, 1e6) | st.just(math.nan),
)


@given(cells)
def test_int16_cells_are_half_a_step_off_at_most(array):
    packed = pack_array(array, exact=False)
    np.testing.assert_allclose(decoded(packed), array, rtol=0, atol=packed.step * 0.51)


@given(cells)
def test_exact_cells_are_float32(array):
    np.testing.assert_array_equal(decoded(pack_array(array, exact=True)), array.astype("f4"))


def test_zero_and_extremes_stay_exact_in_int16():
    array = np.array([[0.0, 1.0, -0.3]])
    assert decoded(pack_array(array, exact=False))[0, :2].tolist() == [0.0, 1.0]


def test_small_arrays_are_exact_and_large_ones_small():
    assert unpack(pack_array(np.zeros((128, 64))).data)[0]["buffers"] == [["f4", 8192]]
    large = pack_array(np.random.default_rng(0).normal(size=(256, 512)))
    assert unpack(large.data)[0]["buffers"] == [["i2", 131072]]
    assert len(large.data) < 263_000


def test_infinities_have_no_colour():
    assert np.isnan(decoded(pack_array([[math.inf, -math.inf, 1.0]]))[0, :2]).all()


def test_equal_contents_have_equal_ids():
    array = np.arange(6.0).reshape(2, 3)
    assert pack_array(array).id == pack_array(array.copy()).id
    assert pack_array(array).id != pack_array(array.reshape(3, 2)).id
    assert pack_array(array).id != pack_array(array + 1).id


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2, 2), (0, 4), (20_000, 1)])
def test_arrays_that_cannot_be_drawn_are_refused(shape):
    with pytest.raises(ValueError, match=r"shape|pool"):
        pack_array(np.zeros(shape))


def test_a_packet_starts_its_buffers_at_multiples_of_eight():
    header, arrays = unpack(
        packet({"a": "é", "buffers": [["u1", 3], ["f4", 1]]}, [b"abc", b"\0\0\x80?"])
    )
    assert header["a"] == "é"
    assert arrays[1].tolist() == [1.0]


def test_a_figure_gives_up_its_cells_and_keeps_the_rest():
    figure = go.Figure([go.Heatmap(z=[[1, 2], [3, 4]], name="m"), go.Bar(y=np.arange(3.0))])
    packed = pack_figure(figure, narrow={"height": 900})
    assert packed.traces == ("m", "trace 1")
    assert decoded(packed.arrays["m"]).tolist() == [[1, 2], [3, 4]]
    spec = json.loads(unpack(packed.data)[1][0].tobytes())
    assert "z" not in spec["data"][0]
    assert spec["data"][1]["y"]["dtype"] == "f8"
    assert spec["narrow"] == {"height": 900}
    assert figure.data[0].z is not None, "the caller's figure stays as it was"


def test_traces_of_one_name_can_be_told_apart():
    assert pack_figure(go.Figure([go.Bar(name="b"), go.Bar(name="b")])).traces == ("b", "b #1")


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_snapped_values_are_in_range_and_on_the_grid(number):
    value = snap(number, 0.0, 4.0, 0.01)
    assert 0 <= value <= 4
    assert value == round(value, 2)
    whole = snap(number, 1, 8192, 1)
    assert isinstance(whole, int)
    assert 1 <= whole <= 8192


@pytest.mark.parametrize(
    "sent",
    [
        None, "1", {"at": 3}, {"at": {"value": 2}}, {"at": {"value": "2", "seq": 1}},
        {"at": {"value": math.nan, "seq": 1}}, {"at": {"value": math.inf, "seq": 1}},
        {"at": {"value": True, "seq": 1}}, {"at": {"value": 10**400, "seq": 1}},
        {"at": {"value": 2, "seq": -1}}, {"at": {"value": 2, "seq": 1.5}},
    ],
)  # fmt: skip
def test_slider_states_that_make_no_sense_are_refused(sent):
    assert _browser_state(sent) is None


def test_events_that_make_no_sense_are_refused():
    assert _read_click({"trace": "other"}, ["m"]) is None
    assert _read_click({"trace": ["m"]}, ["m"]) is None
    assert _read_click(
        {"trace": "m", "x": 10**400, "y": "a" * 999, "row": -1, "column": 2}, ["m"]
    ) == (Click("m", None, "a" * 200, None, 2))
    zoom = {
        "xaxis": [1, 2.5],
        "yaxis2": [1, math.nan],
        "evil": [0, 1],
        "xaxis3": [1],
        "yaxis": [3, 3],
    }
    assert _read_zoom(zoom) == {"xaxis": (1.0, 2.5)}
    assert _read_zoom([1]) == {}


def slider_page():
    import streamlit as st

    from pages._ui import live

    given = st.session_state.get("given", 1.0)
    st.session_state.answer = live.slider.live_slider(
        "Scale", key="scale", value=given, low=0.0, high=4.0, step=0.01
    )
    st.session_state.held = live.slider.is_dragging("scale")


def sent(at, value, seq, dragging=False):
    at.session_state["scale"] = {"at": {"value": value, "seq": seq, "dragging": dragging}}
    return at.run()


def data(at):
    return json.loads(at.get("bidi_component")[0].proto.json)


def test_slider_starts_at_its_value_and_names_everything():
    at = AppTest.from_function(slider_page).run()
    assert not at.exception
    assert at.session_state["answer"] == 1.0
    assert data(at)["value"] == 1.0
    assert data(at)["decimals"] == 2
    assert len(at.get("bidi_component")[0].proto.js_content) < 200


def test_slider_takes_the_browsers_value_within_its_range():
    at = AppTest.from_function(slider_page).run()
    sent(at, 2.5, 1, dragging=True)
    assert at.session_state["answer"] == 2.5
    assert at.session_state["held"]
    sent(at, 99.0, 2)
    assert at.session_state["answer"] == 4.0
    assert not at.session_state["held"]
    assert data(at)["seq"] == 2


def test_a_new_value_from_python_wins_until_the_slider_is_moved_again():
    at = AppTest.from_function(slider_page).run()
    sent(at, 2.5, 1)
    at.session_state["given"] = 0.5
    sent(at, 2.5, 1)
    assert at.session_state["answer"] == 0.5
    sent(at, 2.5, 1)
    assert at.session_state["answer"] == 0.5
    sent(at, 3.0, 2)
    assert at.session_state["answer"] == 3.0


def test_the_sliders_own_answer_fed_back_does_not_hold_it():
    at = AppTest.from_function(slider_page).run()
    sent(at, 2.5, 1)
    at.session_state["given"] = 2.5
    sent(at, 3.0, 2)
    assert at.session_state["answer"] == 3.0


@pytest.mark.parametrize(
    ("template", "step", "parts"),
    [
        ("%.1f s", 0.01, ("", 1, " s")),
        ("× %d", 1, ("× ", 0, "")),
        ("%g%%", 0.5, ("", 1, "%")),
    ],
)
def test_formats_are_split_at_their_number(template, step, parts):
    assert _split_format(template, step) == parts
    with pytest.raises(ValueError, match="format must contain"):
        _split_format("none", step)


def plot_page():
    import numpy as np
    import plotly.graph_objects as go

    from pages._ui import live

    figure = go.Figure([go.Heatmap(name="h"), go.Scatter(name="norm", mode="lines")])
    live.plot(
        figure,
        key="picture",
        arrays={"e": np.ones((4, 3)), "p": np.zeros((4, 3))},
        mixes={"h": {"e": 1, "p": 0.7}},
        lines={"norm": np.arange(4)},
        alt="A picture",
    )


def test_a_frame_names_its_parts_and_carries_only_lines():
    at = AppTest.from_function(plot_page).run()
    assert not at.exception
    header, [norm] = unpack(at.get("bidi_component")[0].proto.bytes)
    assert header["mixes"] == {"h": [["e", 1.0], ["p", 0.7]]}
    assert header["needs"]["e"] == pack_array(np.ones((4, 3))).id
    assert header["lines"] == ["norm"]
    assert norm.tolist() == [0, 1, 2, 3]
    assert shelf.get(header["figure"]) is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mixes": {"x": {"e": 1}}}, "no heatmap 'x'; there are 'h'"),
        ({"mixes": {"h": {"q": 1}}}, "no array 'q' for 'h'; there are 'e', 'wide'"),
        ({"mixes": {"h": {"e": 1, "wide": 1}}}, "one shape"),
        ({"mixes": {"h": {"e": math.nan}}}, "finite"),
        ({"lines": {"x": [1]}}, "no trace 'x'"),
        ({"lines": {"h": [[1]]}}, "shape"),
    ],
)
def test_wrong_names_and_shapes_are_refused(change, message):
    arrays = {"e": [[1]], "wide": [[1, 2]]}
    with pytest.raises(ValueError, match=message):
        plot(go.Figure(go.Heatmap(name="h")), key="k", arrays=arrays, **change)


def test_shelf_keeps_what_is_used_within_its_bound():
    kept = Shelf(limit=10)
    kept.put("a", b"12345")
    kept.put("b", b"12345")
    kept.put("a", b"12345")
    kept.put("c", b"123")
    assert kept.get("b") is None
    assert kept.get("a") == b"12345"
    assert kept.size == 8
    kept.put("large", b"x" * 50)
    assert kept.get("large") == b"x" * 50
    assert kept.get("a") is None
    assert kept.size == 50
    kept.put("d", b"12345")
    assert kept.get("large") is None
    assert kept.size == 5


def test_another_bound_leaves_on_the_shelf_what_fits():
    kept = Shelf(limit=20)
    for name in "abc":
        kept.put(name, b"12345")
    kept.limit = 12
    assert (kept.limit, kept.size) == (12, 10)
    assert kept.get("a") is None
    assert kept.get("c") == b"12345"


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=routes()))


def test_plotly_is_served_compressed_and_for_good(client):
    answer = client.get(plotly_url())
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    plain = client.get(plotly_url(), headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == answer.text
    assert len(gzip.compress(plain.content, 1)) < len(plain.content) / 2


def test_scripts_are_served_and_nothing_else(client):
    url = stub("plot.js").split('"')[1]
    assert client.get(url).status_code == 200
    assert "immutable" in client.get(url).headers["cache-control"]
    assert client.get(url.replace("plot.js", "plot.py")).status_code == 404
    assert "immutable" not in client.get("/assets/live/old/plot.js").headers["cache-control"]
    with pytest.raises(ValueError, match="no script"):
        stub("nothing.js")


def test_documents_announce_what_pages_need_and_nothing_else_does():
    page = Route("/", lambda _: HTMLResponse("<p>page"))
    client = TestClient(Starlette(routes=[page, *routes()], middleware=middleware()))
    links = client.get("/").headers["link"].split(", ")
    assert f"<{plotly_url()}>; rel=prefetch" in links
    for link in links:
        answer = client.get(link.split(">")[0].removeprefix("<"))
        assert answer.status_code == 200
        assert "link" not in answer.headers


def test_parts_are_served_by_id(client):
    packed = pack_array([[1.0, 2.0]])
    shelf.put(packed.id, packed.data)
    assert client.get(parts_url() + packed.id).content == packed.data
    assert client.get(parts_url() + "nothing").status_code == 404
