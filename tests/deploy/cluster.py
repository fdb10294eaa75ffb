"""Replicas of the app behind the deployed proxy configuration, on loopback, and their visitors."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from pathlib import Path

from playwright.sync_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.on_screen import graph
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "deploy" / "nginx.conf.template"
START_SECONDS = 120
PASSED_OVER_SECONDS = 2
SCALE = 2  # the third slider


class Replica:
    """A server process of the app, which can be restarted on the same port."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.port = free_port()
        self.log = folder / f"{self.port}.log"
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it was not started"
        return self._process

    def start(self, *before: str, **options: object) -> None:
        """Run `streamlit run app.py`, as an argument of the command ``before`` if one is given."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *before,
                    *(sys.executable, "-m", "streamlit", "run", "app.py"),
                    *(f"--server.port={self.port}", "--server.address=127.0.0.1"),
                    *("--server.headless=true", "--logger.hideWelcomeMessage=true"),
                ],
                cwd=ROOT,
                env={**os.environ, **self._environment},
                **{"stdout": output, "stderr": subprocess.STDOUT, **options},  # type: ignore[call-overload]
            )

    def wait(self) -> None:
        """Wait until it is healthy."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError):
                self.get("/_stcore/health")
                return
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.2)

    def get(self, path: str) -> str:
        """Its answer to a direct request, past the proxy."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return str(answer.read().decode())

    def figure(self, name: str) -> float:
        """One of its metrics, summed over the labels."""
        lines = re.findall(
            rf"^{name}(?:{{.*}})? (\S+)$", self.get("/_stcore/metrics"), re.MULTILINE
        )
        return sum(map(float, lines))

    def sessions(self) -> int:
        """How many sessions are connected right now."""
        return int(self.figure("active_sessions"))

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, wait for the process to end, and return its exit status."""
        self.process.send_signal(how)
        return self.process.wait(30)

    def end(self) -> None:
        """Make sure that the process has ended."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(30)


class Proxy:
    """nginx with deploy/nginx.conf.template, in a folder of its own."""

    def __init__(self, *replicas: Replica, frame_ancestors: str = "'self'") -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        # Not pytest's folder, which only its owner may enter: nginx's workers run as `nobody`.
        self.folder = Path(tempfile.mkdtemp(prefix="posembed-"))
        self.folder.chmod(0o755)
        self.log = self.folder / "log"
        failing = f"max_fails=1 fail_timeout={PASSED_OVER_SECONDS}s"
        filled = TEMPLATE.read_text()
        for name, value in {
            "POSEMBED_LISTEN": f"127.0.0.1:{self.port}",
            "POSEMBED_SERVERS": " ".join(f"server 127.0.0.1:{r.port} {failing};" for r in replicas),
            "POSEMBED_FRAME_ANCESTORS": frame_ancestors,
            "POSEMBED_COOKIE_FLAGS": "SameSite=Lax",
        }.items():
            filled = filled.replace(f"${{{name}}}", value)
        (self.folder / "nginx.conf").write_text(filled)

    def command(self, *options: str) -> list[str]:
        """How nginx is called, as in deploy/compose.yaml."""
        return ["nginx", "-p", f"{self.folder}/", "-c", f"{self.folder}/nginx.conf", *options]

    @contextlib.contextmanager
    def running(self) -> Iterator[Proxy]:
        """Run nginx until the block ends."""
        with self.log.open("wb") as output:
            process = subprocess.Popen(
                self.command(), cwd=self.folder, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            deadline = time.monotonic() + 10
            while True:
                with (
                    contextlib.suppress(OSError),
                    socket.create_connection(("127.0.0.1", self.port), 1),
                ):
                    break
                assert process.poll() is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.05)
            yield self
        finally:
            process.terminate()
            process.wait(30)
            self.remove()

    def remove(self) -> None:
        """Remove its folder."""
        shutil.rmtree(self.folder)


class Visitor:
    """The browser's side of HTTP and the websocket, with its cookies."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}

    def ask(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers (names in lower case) and body; keeps the cookies that are set."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, {**self._cookie_header(), **sent})
        answer = connection.getresponse()
        pairs = answer.getheaders()
        for name, value in pairs:
            if name.lower() == "set-cookie":
                cookies = SimpleCookie(value)
                self.cookies |= {key: cookie.value for key, cookie in cookies.items()}
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in pairs}, content

    def open(self) -> ClientConnection:
        """A websocket of the app."""
        return connect(
            f"ws://127.0.0.1:{self.port}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            additional_headers=self._cookie_header(),
            max_size=None,
            proxy=None,
            open_timeout=60,
        )

    def _cookie_header(self) -> dict[str, str]:
        pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": pairs} if pairs else {}


def run(websocket: ClientConnection, query: str = "") -> list[ForwardMsg]:
    """Everything that one run of the app sends."""
    rerun = BackMsg()
    rerun.rerun_script.query_string = query
    websocket.send(rerun.SerializeToString())
    messages: list[ForwardMsg] = []
    while not messages or messages[-1].WhichOneof("type") != "script_finished":
        data = websocket.recv(timeout=60)
        assert isinstance(data, bytes)
        messages.append(ForwardMsg.FromString(data))
    return messages


def session_id(messages: list[ForwardMsg]) -> str:
    """The session's id, which an upload has to name."""
    return next(
        m.new_session.initialize.session_id
        for m in messages
        if m.WhichOneof("type") == "new_session"
    )


def texts(messages: list[ForwardMsg]) -> list[str]:
    """Every text drawn, in order, as a reader would compare them."""
    deltas = [m.delta.new_element for m in messages if m.WhichOneof("type") == "delta"]
    return [element.markdown.body for element in deltas if element.WhichOneof("type") == "markdown"]


def arrays(messages: list[ForwardMsg]) -> list[str]:
    """The ids of the arrays that the charts fetch."""
    frames = [
        m.delta.new_element.bidi_component.bytes
        for m in messages
        if m.WhichOneof("type") == "delta"
        and m.delta.new_element.WhichOneof("type") == "bidi_component"
    ]
    heads = [re.search(rb'"needs":{(.*?)}', frame) for frame in frames]
    return [name.decode() for head in heads if head for name in re.findall(rb':"(\w+)"', head[1])]


def upload(visitor: Visitor, path: str, size: int, token: bool = True) -> int:
    """Upload a file as Streamlit's page does; returns the status."""
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.npy"\r\n\r\n'
    headers = {"Content_Type": "multipart/form-data; boundary=x"}
    if token:
        headers["X_Xsrftoken"] = visitor.cookies["_streamlit_xsrf"]
    return visitor.ask("PUT", path, head + bytes(size) + b"\r\n--x--\r\n", **headers)[0]


def seen(page: Page) -> tuple[str, list[object], str]:
    """What a page shows: the numbers, the pictures' cells, the URL."""
    cells = graph(
        page,
        """({ data }) => data.filter((trace) => trace.z && trace.z.length)
             .map((trace) => Array.from(trace.z, (row) => Array.from(row)))""",
    )
    return page.locator("table").inner_text(), cells, page.url


def move_scale(page: Page) -> str:
    """Move the scale one step with the arrow key; returns the query's scale afterwards."""
    before = page.url
    page.locator("input[type=range]").nth(SCALE).press("ArrowRight")
    page.wait_for_function("before => location.href != before", arg=before)
    return re.search(r"scale=([0-9.]+)", page.url)[1]


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for a condition, and fail if it doesn't come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
