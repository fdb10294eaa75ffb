"""The server as visitors meet it: a process of its own, a websocket, and its log."""

import contextlib
import gzip
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import plotly
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Navigation_pb2 import Navigation
from websockets.sync.client import connect

import app
from pages._ui.live import assets
from pages._ui.server import logs
from tests.ports import free_port

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[3]

# A page that works, unless it is asked to fail over what a visitor typed.
FAILING_PAGE = """
import streamlit as st

st.text_input("Sentence")
if "sentence" in st.query_params:
    raise ValueError(f"cannot read {st.query_params['sentence']}")
st.write("all is well")
"""
LAUNCHER = """
import sys

sys.path.insert(0, {root!r})
import streamlit as st
from app import report_script_error
from pages._ui.server import logs

logs.tidy()
app = st.App("failing_page.py", on_script_error=report_script_error)
"""


@dataclass(frozen=True)
class Server:
    """A running server: where it listens, where it logs."""

    port: int
    log: Path

    def get(self, path: str, **headers: str) -> tuple[bytes, dict[str, str]]:
        """Body and headers, the latter's names in lower case."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read(), {name.lower(): value for name, value in answer.headers.items()}

    def visit(self, query: str = "") -> list[ForwardMsg]:
        """Everything that a visitor's browser gets until the script has finished."""
        rerun = BackMsg()
        rerun.rerun_script.query_string = query
        url = f"ws://127.0.0.1:{self.port}/_stcore/stream"
        messages: list[ForwardMsg] = []
        with connect(url, subprotocols=["streamlit"], max_size=None, proxy=None) as websocket:  # type: ignore[list-item]
            websocket.send(rerun.SerializeToString())
            while not messages or messages[-1].WhichOneof("type") != "script_finished":
                messages.append(ForwardMsg.FromString(websocket.recv(timeout=60)))
        return messages


@contextlib.contextmanager
def serving(script: Path, log: Path) -> Iterator[Server]:
    """`streamlit run` a script in the repository's folder until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.headless", "true", "--server.port", str(port)]
    with (
        log.open("wb") as stream,
        subprocess.Popen([*command, *options], cwd=ROOT, stdout=stream, stderr=stream) as process,
    ):
        try:
            server = Server(port, log)
            deadline = time.monotonic() + 120
            while True:
                with contextlib.suppress(urllib.error.URLError):
                    server.get("/_stcore/health")
                    break
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(ROOT / "app.py", tmp_path_factory.mktemp("server") / "log") as running:
        yield running


@pytest.fixture(scope="module")
def failing_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("failing")
    (folder / "failing_page.py").write_text(FAILING_PAGE)
    launcher = folder / "launcher.py"
    launcher.write_text(LAUNCHER.format(root=str(ROOT)))
    with serving(launcher, folder / "log") as running:
        yield running


def elements(messages: list[ForwardMsg]) -> list[str]:
    """The kinds of elements drawn, in order."""
    deltas = [message.delta for message in messages if message.WhichOneof("type") == "delta"]
    return [
        delta.new_element.WhichOneof("type")
        for delta in deltas
        if delta.WhichOneof("type") == "new_element"
    ]


def alerts(messages: list[ForwardMsg]) -> list[str]:
    """What the alert boxes say."""
    deltas = [message.delta for message in messages if message.WhichOneof("type") == "delta"]
    return [
        delta.new_element.alert.body
        for delta in deltas
        if delta.new_element.WhichOneof("type") == "alert"
    ]


def test_everything_is_loaded_before_the_port_opens(server: Server) -> None:
    assert "event=ready" in server.log.read_text()


def test_the_first_visitor_sees_a_page_without_an_error(server: Server) -> None:
    messages = server.visit()
    drawn = elements(messages)
    assert drawn
    assert "exception" not in drawn
    assert alerts(messages) == []


def test_a_visit_shows_in_the_metrics(server: Server) -> None:
    def frames() -> int:
        text = server.get("/_stcore/metrics")[0].decode()
        assert text.endswith("# EOF\n")
        assert "# UNIT posembed_cache_bytes bytes\n" in text
        return int(text.split("posembed_frames_total ")[1].split()[0])

    before = frames()
    server.visit()
    assert frames() == before + 1


def test_pages_are_listed_on_top_and_the_landing_page_comes_first(server: Server) -> None:
    menus = [m.navigation for m in server.visit() if m.WhichOneof("type") == "navigation"]
    assert menus
    assert menus[-1].position == Navigation.Position.TOP
    titles = [page.page_name for page in menus[-1].app_pages]
    assert titles[0] == "Combine"
    assert [page.page_name for page in menus[-1].app_pages if page.is_default] == ["Combine"]


def test_plotly_js_comes_from_the_installed_package(server: Server) -> None:
    installed = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    body, headers = server.get(assets.plotly_url(), **{"Accept-Encoding": "gzip"})
    assert headers["content-encoding"] == "gzip"
    assert "javascript" in headers["content-type"]
    assert gzip.decompress(body) == installed.read_bytes()


def test_an_error_is_one_sentence_and_the_page_stays_usable(failing_server: Server) -> None:
    failed = failing_server.visit("sentence=my+secret+words")
    assert elements(failed) == ["text_input", "alert"]
    assert alerts(failed) == [app.APOLOGY]
    assert elements(failing_server.visit()) == ["text_input", "markdown"]


def test_an_error_is_logged_with_its_place_but_without_what_the_visitor_typed(
    failing_server: Server,
) -> None:
    failing_server.visit("sentence=my+secret+words")
    log = failing_server.log.read_text()
    (line, *_) = [line for line in log.splitlines() if "event=script_error" in line]
    assert 'error="builtins.ValueError"' in line
    assert "failing_page.py:6 <module>" in line
    assert "secret" not in log
    assert "Traceback" not in log


def test_frames_are_listed_from_outermost_to_innermost() -> None:
    def inner() -> None:
        raise KeyError("typed by a visitor")

    with pytest.raises(KeyError) as caught:
        inner()
    places = logs.frames(caught.value)
    assert [place.split(" ")[1] for place in places] == [
        "test_frames_are_listed_from_outermost_to_innermost",
        "inner",
    ]
    assert all(place.startswith(f"tests{os.sep}ui".replace(os.sep, "/")) for place in places)
