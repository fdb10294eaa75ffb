"""A server that is killed, told to stop, or has a disk that is full or read-only."""

from __future__ import annotations

import contextlib
import re
import resource
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.deploy.cluster import (
    Replica,
    Visitor,
    move_scale,
    run,
    seen,
    session_id,
    texts,
    until,
    upload,
)
from tests.on_screen import at_rest, eventually

pytestmark = pytest.mark.server

SETTINGS = "encoding=rope&length=40&dimension=32&scale=0.5&pairing=interleaved&at=1_2"
LINE = re.compile(r'time="[^"]+" level=[A-Z]+ logger=\S+ (event|message)=')
READ_ONLY = (
    """mount -o remount,bind,ro / && if touch "$0" 2>/dev/null; then exit 9; fi; exec "$@" """
)


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[Replica]:
    """A replica that is not started yet."""
    replica = Replica(tmp_path)
    yield replica
    replica.end()


def drawn(replica: Replica, query: str = SETTINGS) -> list[str]:
    """What a visitor of the page reads."""
    with Visitor(replica.port).open() as websocket:
        return texts(run(websocket, query))


@pytest.mark.browser
def test_a_server_killed_and_started_again_shows_the_same_to_the_same_page(
    replica: Replica, new_page: Callable[..., Page]
) -> None:
    replica.start()
    replica.wait()
    page = new_page(tolerate="", cold=True)  # the page complains while there is no server
    page.goto(f"http://127.0.0.1:{replica.port}/?{SETTINGS}")
    at_rest(page)
    before, read = seen(page), drawn(replica)
    assert replica.stop(signal.SIGKILL) == -signal.SIGKILL
    replica.start()
    replica.wait()
    assert drawn(replica) == read
    until(lambda: replica.sessions() == 1)
    assert move_scale(page) == "0.51"
    assert seen(page) != before
    page.goto(before[2])
    at_rest(page)
    eventually(page, lambda: seen(page), before)


def test_a_server_told_to_stop_closes_its_sessions_and_exits_cleanly(replica: Replica) -> None:
    replica.start()
    replica.wait()
    with (
        socket.create_connection(("127.0.0.1", replica.port)) as asleep,
        Visitor(replica.port).open() as websocket,
    ):
        # As of a laptop that was shut: the connection exists, but nobody answers the close.
        asleep.sendall(
            b"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
            b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            b"Sec-WebSocket-Protocol: streamlit\r\n\r\n"
        )
        assert asleep.recv(12) == b"HTTP/1.1 101"
        run(websocket)
        assert replica.stop() == 0
    lines = replica.log.read_text().splitlines()
    assert [re.search(r"event=(\w+)", line)[1] for line in lines if "event=" in line] == [
        "ready",
        "stopped",
    ]
    assert [line for line in lines if not LINE.match(line)] == []


def test_a_stop_in_the_middle_of_large_matrices_is_not_a_crash(replica: Replica) -> None:
    replica.start()
    replica.wait()
    before = replica.figure("posembed_cache_bytes")
    with contextlib.ExitStack() as stack:
        for seed in range(4):
            large = BackMsg()
            large.rerun_script.query_string = f"length=8192&dimension=4096&token_seed={seed}"
            websocket = stack.enter_context(Visitor(replica.port).open())
            websocket.send(large.SerializeToString())
        # One session has its tokens by now, so the others are drawing theirs.
        until(lambda: replica.figure("posembed_cache_bytes") > before + 100e6)
        assert replica.stop() == 0
    assert "terminate" not in replica.log.read_text()


def check_it_serves(replica: Replica) -> None:
    """The page is drawn and a file that fits in memory arrives; only a larger one fails."""
    assert "".join(drawn(replica))
    visitor = Visitor(replica.port)
    visitor.ask("GET", "/_stcore/health")
    with visitor.open() as websocket:
        path = f"/_stcore/upload_file/{session_id(run(websocket))}/a-file"
        assert upload(visitor, path, 500_000) == 204
        assert upload(visitor, path, 3_000_000) == 500
        assert upload(visitor, path, 500_000) == 204
    assert "".join(drawn(replica, "encoding=sinusoidal&length=500"))
    assert visitor.ask("GET", "/_stcore/health")[0] == 200


def test_a_full_disk_costs_large_uploads_only(replica: Replica) -> None:
    # No file may grow by a single byte, as on a full disk; pipes still work.
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    replica.start(preexec_fn=fill, stdout=subprocess.PIPE)
    replica.wait()
    check_it_serves(replica)
    assert replica.stop() == 0
    with replica.process.stdout as output:
        log = output.read().decode()
    assert "event=stopped" in log
    assert "Traceback" not in log


@pytest.mark.namespaces
def test_a_disk_that_is_read_only_everywhere_costs_large_uploads_only(
    replica: Replica, tmp_path: Path
) -> None:
    replica.start(
        *("unshare", "--user", "--map-root-user", "--mount"),
        *("sh", "-c", READ_ONLY, str(tmp_path / "probe")),
    )
    replica.wait()
    check_it_serves(replica)
    assert replica.stop() == 0
    assert "Traceback" not in replica.log.read_text()
