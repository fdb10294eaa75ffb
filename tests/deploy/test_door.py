"""The plain port by itself: its headers, foreign pages, and connections that ask for nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import yaml
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages._ui.server.door import security_headers
from tests.deploy.cluster import ROOT, TEMPLATE, Replica, Visitor, until
from tests.deploy.conftest import Cluster

FEW = 256  # file descriptors of the server


def test_nginx_says_what_the_app_says() -> None:
    written = TEMPLATE.read_text().replace("${POSEMBED_FRAME_ANCESTORS}", "'self'")
    for name, value in security_headers().items():
        assert value in written
        assert f"proxy_hide_header {name};" in written


def test_every_log_of_the_deployment_has_an_end() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    for service in compose["services"].values():
        options = service["logging"]["options"]
        assert options.keys() == {"max-size", "max-file"}


@pytest.fixture(scope="module")
def replica(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """A server with few file descriptors, and nothing in front of it."""
    replica = Replica(tmp_path_factory.mktemp("plain"))
    try:
        replica.start("prlimit", f"--nofile={FEW}:{FEW}")
        replica.wait()
        yield replica
    finally:
        replica.end()


@pytest.mark.server
@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/assets/none", "/static/none.js"])
def test_the_plain_port_has_security_headers(replica: Replica, path: str) -> None:
    headers = Visitor(replica.port).ask("GET", path)[1]
    for name, value in security_headers().items():
        assert headers[name.lower()] == value


@pytest.mark.server
def test_a_foreign_page_gets_no_session(replica: Replica) -> None:
    url = f"ws://127.0.0.1:{replica.port}/_stcore/stream"
    with connect(url, origin=f"http://127.0.0.1:{replica.port}", proxy=None):  # type: ignore[arg-type]
        pass
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(url, origin="https://elsewhere.example", proxy=None),  # type: ignore[arg-type]
    ):
        pass


@pytest.mark.server
def test_connections_that_ask_for_nothing_keep_nobody_out(replica: Replica) -> None:
    with ExitStack() as closing:
        idle = []
        for number in range(2 * FEW):
            connection = closing.enter_context(socket.socket())
            connection.connect(("127.0.0.1", replica.port))
            connection.setblocking(False)
            if number % 2:  # half a request
                connection.send(b"GET / HTTP/1.1\r\nHost: a\r\n")
            idle.append(connection)
        assert replica.get("/_stcore/health") == "ok"
        until(lambda: all(map(is_over, idle)))
    assert len(replica.log.read_bytes()) < 100_000


def is_over(connection: socket.socket) -> bool:
    """Whether the server has ended it."""
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


@pytest.mark.server
@pytest.mark.proxy
def test_a_long_link_in_any_script_gets_through(cluster: Cluster) -> None:
    for character in ("%E4%BD%A0", "%F0%9F%A6%8A"):  # 4,000 are the most that a link may hold
        link = f"/?text={character * 4000}"
        own = f"http://127.0.0.1:{cluster.proxy.port}"
        assert Visitor(cluster.proxy.port).ask("GET", link, Referer=own + link)[0] == 200
