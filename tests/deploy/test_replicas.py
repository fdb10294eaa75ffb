"""Three replicas behind nginx: visitors stay with theirs, and nobody is lost when one dies."""

from __future__ import annotations

import contextlib
import functools
import http.client
import http.server
import signal
import threading
import tomllib
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.deploy.cluster import (
    ROOT,
    Replica,
    Visitor,
    arrays,
    move_scale,
    run,
    seen,
    session_id,
    texts,
    until,
    upload,
)
from tests.deploy.conftest import Cluster
from tests.on_screen import at_rest, eventually

pytestmark = [pytest.mark.server, pytest.mark.proxy]

SETTINGS = "encoding=rope&length=40&dimension=32&scale=0.5&pairing=interleaved&at=1_2"


def test_two_visitors_stick_to_their_replicas(cluster: Cluster) -> None:
    first, second = cluster.replicas[:2]
    visitors = {first: cluster.visitor_of(first), second: cluster.visitor_of(second)}
    for _ in range(3):
        for replica, visitor in visitors.items():
            assert cluster.replica_of(visitor) is replica


def test_visitors_spread_over_all_replicas(cluster: Cluster) -> None:
    # 12 visitors would miss one of three replicas with a chance of 2 %; 60 practically never.
    seen: set[int] = set()
    for _ in range(60):
        seen.add(cluster.newcomer()[1].port)
        if len(seen) == len(cluster.replicas):
            return
    raise AssertionError(f"only {seen} were visited")


def test_a_browser_without_cookies_stays_where_its_address_leads(cluster: Cluster) -> None:
    first = cluster.replica_of(Visitor(cluster.proxy.port))
    assert cluster.replica_of(Visitor(cluster.proxy.port)) is first


def test_an_array_is_found_wherever_the_session_lives(cluster: Cluster) -> None:
    here, elsewhere = cluster.replicas[:2]
    visitor = cluster.visitor_of(here)
    with visitor.open() as websocket:
        # A setting used nowhere else, so that no other replica can have drawn it.
        names = arrays(run(websocket, "length=33&token_seed=7"))
    assert names
    for name in names:
        path = f"/assets/live/parts/{name}"
        assert visitor.ask("GET", path)[0] == 200
    misled = cluster.visitor_of(elsewhere)
    direct = Visitor(elsewhere.port)
    unknown = [n for n in names if direct.ask("GET", f"/assets/live/parts/{n}")[0] == 404]
    assert unknown, "every array is already there, so this shows nothing"
    for name in unknown:
        status, headers, body = misled.ask("GET", f"/assets/live/parts/{name}")
        assert (status, headers["content-encoding"]) == (200, "identity")
        assert body == visitor.ask("GET", f"/assets/live/parts/{name}")[2]
    assert misled.ask("GET", "/assets/live/parts/none")[0] == 404


@pytest.mark.parametrize("index", range(3))
def test_an_upload_works_on_every_replica(cluster: Cluster, index: int) -> None:
    replica = cluster.replicas[index]
    visitor = cluster.visitor_of(replica)
    # The token against forged requests comes from another replica: they share the secret.
    other = Visitor(cluster.replicas[index - 1].port)
    other.ask("GET", "/_stcore/health")
    visitor.cookies |= other.cookies
    with visitor.open() as websocket:
        path = f"/_stcore/upload_file/{session_id(run(websocket))}/a-file"
        assert upload(visitor, path, 3_000_000, token=False) == 403
        assert upload(visitor, path, 3_000_000) == 204
        assert "cache_type" in replica.get("/_stcore/metrics")
        assert visitor.ask("DELETE", path, X_Xsrftoken=visitor.cookies["_streamlit_xsrf"])[0] == 204
        if index == 0:
            limit = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
            assert upload(visitor, path, limit["server"]["maxUploadSize"] * 2**20 - 1000) == 204


def opened(page: Page, cluster: Cluster) -> Replica:
    """Open the settings, wait for the picture, and return the replica that serves the page."""
    before = cluster.counts()
    page.goto(f"{cluster.proxy.url}/?{SETTINGS}")
    at_rest(page)
    after = cluster.counts()
    (replica,) = [r for r in before if after[r] > before[r]]
    return replica


@pytest.mark.browser
def test_the_visitor_of_a_killed_replica_goes_on_elsewhere_and_sees_the_same(
    cluster: Cluster, new_page: Callable[..., Page]
) -> None:
    page = new_page(tolerate="", cold=True)
    replica = opened(page, cluster)
    before = seen(page)
    try:
        assert replica.stop(signal.SIGKILL) == -signal.SIGKILL
        until(lambda: sum(cluster.counts().values()) == 1)
        at_rest(page)
        eventually(page, lambda: seen(page), before)
        # The other replica has none of its arrays, yet the page goes on, also after a reload.
        assert move_scale(page) == "0.51"
        # The numbers appear with the picture, once its arrays have arrived.
        changed = "before => document.querySelector('table').innerText !== before"
        page.wait_for_function(changed, arg=before[0])
        norm = page.locator("table").inner_text()
        page.reload()
        at_rest(page)
        eventually(page, page.locator("table").inner_text, norm)
    finally:
        cluster.whole()


@pytest.mark.browser
def test_a_rolling_restart_loses_nobody(cluster: Cluster, new_page: Callable[..., Page]) -> None:
    page = new_page(tolerate="", cold=True)
    opened(page, cluster)
    before = seen(page)
    visitors = [cluster.visitor_of(replica) for replica in cluster.replicas]
    drawn = None
    for replica in cluster.replicas:
        assert replica.stop() == 0
        # Meanwhile everybody, its own visitors included, gets the page with all that is on it.
        for visitor in visitors:
            with visitor.open() as websocket:
                shown = texts(run(websocket, SETTINGS))
                assert shown == (drawn or shown)
                drawn = shown
        until(lambda: sum(cluster.counts().values()) == 1)
        replica.start()
        replica.wait()
    assert drawn
    at_rest(page)
    eventually(page, lambda: seen(page), before)
    assert move_scale(page) == "0.51"


@contextlib.contextmanager
def embedding(port: int, url: str) -> Iterator[str]:
    """A page on another server, with the app in a frame."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe src="{url}" width="900" height="700"></iframe>'.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.browser
def test_only_the_configured_page_may_embed_the_app(
    cluster: Cluster, new_page: Callable[..., Page]
) -> None:
    page = new_page(tolerate="frame-ancestors", cold=True)
    url = f"{cluster.proxy.url}/?embed=true"
    frame = functools.partial(page.frame_locator, "iframe")
    with embedding(cluster.host_port, url) as host, embedding(cluster.stranger_port, url) as other:
        page.goto(host)
        plot = frame().locator(".live-plot[data-state=rest]")
        plot.wait_for()
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(other)
        expect(frame().locator(".live-plot")).to_have_count(0)


def test_a_replica_that_stands_still_is_left(cluster: Cluster) -> None:
    still = cluster.replicas[0]
    visitor = cluster.visitor_of(still)
    cookie = {"Cookie": f"posembed_replica={visitor.cookies['posembed_replica']}"}
    with connect(
        f"ws://127.0.0.1:{cluster.proxy.port}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        additional_headers=cookie,
        max_size=None,
        proxy=None,
        ping_interval=None,  # else this end would notice by itself
    ) as websocket:
        shown = texts(run(websocket, "?scale=0.5"))
        still.process.send_signal(signal.SIGSTOP)
        try:
            for path in ("/", "/_stcore/health", "/_stcore/host-config"):
                asking = http.client.HTTPConnection("127.0.0.1", cluster.proxy.port, timeout=20)
                asking.request("GET", path, headers=cookie)
                assert asking.getresponse().status == 200
                asking.close()
            with pytest.raises(ConnectionClosed):
                listen(websocket)
            with visitor.open() as elsewhere:
                assert texts(run(elsewhere, "?scale=0.5")) == shown
        finally:
            still.process.send_signal(signal.SIGCONT)
    until(lambda: still.sessions() == 0)


def listen(websocket: ClientConnection) -> None:
    """Hear all that comes until the connection ends, and fail after a long silence."""
    while True:
        websocket.recv(timeout=30)
