"""What the proxy lets through, adds and withholds, with the deployed configuration."""

from __future__ import annotations

import gzip
import http.client
import re
import tomllib

import pytest

from pages._ui.live import assets
from tests.deploy.cluster import ROOT, TEMPLATE, Visitor, until
from tests.deploy.conftest import Cluster

pytestmark = [pytest.mark.server, pytest.mark.proxy]


@pytest.fixture
def visitor(cluster: Cluster) -> Visitor:
    return Visitor(cluster.proxy.port)


def scripts(visitor: Visitor) -> list[str]:
    """The paths of the scripts that Streamlit's page names."""
    _, _, page = visitor.ask("GET", "/")
    paths = re.findall(r'(?:src|href)="\.?(/static/[^"]+\.js)"', page.decode())
    assert paths
    return paths


def test_a_page_has_its_security_headers(visitor: Visitor, cluster: Cluster) -> None:
    status, headers, _ = visitor.ask("GET", "/")
    assert status == 200
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "x-frame-options" not in headers
    assert "server" not in headers or "uvicorn" not in headers["server"]
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["frame-ancestors"] == f"'self' http://127.0.0.1:{cluster.host_port}"
    assert policy["default-src"] == "'self'"


def test_the_page_may_change_and_its_cookie_is_set_once(visitor: Visitor) -> None:
    _, headers, _ = visitor.ask("GET", "/?text=my+secret+words")
    assert headers["cache-control"] == "no-cache"
    assert re.fullmatch(
        r"posembed_replica=[0-9a-f]{32}; Path=/; HttpOnly; SameSite=Lax", headers["set-cookie"]
    )
    _, headers, _ = visitor.ask("GET", "/attention")
    assert "set-cookie" not in headers


@pytest.mark.parametrize("path", ["/_stcore/host-config", "/static/none.js", "/assets/none.js"])
def test_only_a_page_hands_out_a_cookie(visitor: Visitor, path: str) -> None:
    visitor.ask("GET", path)
    assert "posembed_replica" not in visitor.cookies


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/_stcore/metrics?families=active_sessions",
        "/_stcore//metrics",
        "/_stcore/%6detrics",
        "/static/../_stcore/metrics",
        "/base/_stcore/metrics",
        "/_stcore/script-health-check",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/interact",
    ],
)
def test_internal_paths_stay_inside(visitor: Visitor, path: str) -> None:
    status, headers, body = visitor.ask("GET", path)
    assert status == 404
    assert b"active_sessions" not in body
    assert headers["x-content-type-options"] == "nosniff"


def test_the_metrics_are_served_inside(cluster: Cluster) -> None:
    assert "# TYPE active_sessions gauge" in cluster.replicas[0].get("/_stcore/metrics")


def test_health_passes_through(visitor: Visitor) -> None:
    assert visitor.ask("GET", "/_stcore/health")[::2] == (200, b"ok")


def test_streamlits_scripts_are_compressed_and_cached_for_good(visitor: Visitor) -> None:
    sent = unpacked = 0
    for path in scripts(visitor):
        status, headers, packed = visitor.ask("GET", path, Accept_Encoding="gzip, deflate, br")
        _, plain_headers, plain = visitor.ask("GET", path, Accept_Encoding="identity")
        assert status == 200
        assert "immutable" in headers["cache-control"]
        assert int(re.search(r"max-age=(\d+)", headers["cache-control"])[1]) >= 30 * 24 * 3600
        assert "content-encoding" not in plain_headers
        if len(plain) >= 1024:
            assert headers["content-encoding"] == "gzip"
            assert "Accept-Encoding" in headers["vary"]
            packed, sent, unpacked = (
                gzip.decompress(packed),
                sent + len(packed),
                unpacked + len(plain),
            )
        assert packed == plain
    assert 0 < sent < unpacked / 3


def test_a_script_that_is_gone_is_not_remembered(visitor: Visitor) -> None:
    # Streamlit answers with its page; an old page may ask during an upgrade of the server.
    for _ in range(2):
        _, headers, _ = visitor.ask("GET", "/static/js/gone.js", Accept_Encoding="gzip")
        assert headers["cache-control"] == "no-cache"


def test_our_own_scripts_are_compressed_and_cached_for_good(visitor: Visitor) -> None:
    own = re.search(r'"(/assets/live/.*?)"', assets.stub("plot.js"))[1]
    for path in (assets.plotly_url(), own):
        status, headers, body = visitor.ask("GET", path, Accept_Encoding="gzip")
        assert status == 200
        assert headers["content-encoding"] == "gzip"
        assert headers["cache-control"] == "public, max-age=31536000, immutable"
        assert gzip.decompress(body)


def test_the_log_is_one_line_a_request_without_what_a_visitor_typed(
    visitor: Visitor, cluster: Cluster
) -> None:
    visitor.ask("GET", "/attention?text=my+secret+words")
    # nginx writes the line only after it has answered.
    until(lambda: 'path="/attention" status=200' in cluster.proxy.log.read_text())
    lines = cluster.proxy.log.read_text().splitlines()
    assert all(line.startswith('time="') and " event=request " in line for line in lines)
    (line, *_) = [line for line in lines if 'path="/attention" status=200' in line]
    assert f'replicas="127.0.0.1:{line.split("127.0.0.1:")[1]}' in line
    assert not any("secret" in line for line in lines)


def test_a_body_over_the_limit_is_refused_before_it_is_sent(cluster: Cluster) -> None:
    limit = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["server"]["maxUploadSize"]
    (allowed,) = re.findall(r"client_max_body_size (\d+)m;\n +proxy_request", TEMPLATE.read_text())
    assert int(allowed) == limit + 1, "room for the form around a file"
    for path, size in {"/_stcore/upload_file/a/b": limit + 2, "/": 2}.items():
        connection = http.client.HTTPConnection("127.0.0.1", cluster.proxy.port, timeout=30)
        connection.putrequest("PUT", path)
        connection.putheader("Content-Length", str(size * 2**20))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
