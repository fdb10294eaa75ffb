"""The door: who may open a session, and what every answer says to a browser."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from pages._ui.server import door


def client_of(seen: list[str | None], **environment: str) -> TestClient:
    """A visitor of an app that notes which websockets reach it, and with which origin."""

    async def stream(websocket: WebSocket) -> None:
        seen.append(websocket.headers.get("origin"))
        await websocket.accept()
        await websocket.close()

    async def page(_request: object) -> PlainTextResponse:
        return PlainTextResponse("ok", headers={"X-Content-Type-Options": "sniff"})

    routes = [WebSocketRoute("/_stcore/stream", stream), Route("/", page)]
    return TestClient(Starlette(routes=routes, middleware=door.middleware(environment)))


def is_let_in(client: TestClient, **headers: str) -> bool:
    """Whether a page's websocket comes as far as the app."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with client.websocket_connect("/_stcore/stream", headers=sent):
            return True
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize(
    ("headers", "welcome"),
    [
        ({}, True),  # a program
        ({"host": "a.org", "origin": "https://a.org"}, True),
        ({"host": "a.org:443", "origin": "https://a.org"}, True),
        ({"host": "A.org:8501", "origin": "http://a.org:8501"}, True),
        ({"host": "[::1]:8501", "origin": "http://[::1]:8501"}, True),
        ({"host": "app:8501", "x_forwarded_host": "a.org", "origin": "https://a.org"}, True),
        ({"host": "app", "x_forwarded_host": "b.org, a.org", "origin": "https://a.org"}, True),
        ({"host": "app", "x_forwarded_host": "a.org, b.org", "origin": "https://a.org"}, False),
        ({"host": "a.org", "origin": "https://b.org"}, False),
        ({"host": "a.org:8501", "origin": "http://a.org:8502"}, False),
        ({"host": "a.org", "origin": "https://a.org.b.org"}, False),
        ({"host": "a.org", "origin": "https://a.org@b.org"}, False),
        ({"host": "a.org", "origin": "null"}, False),
        ({"host": "a.org", "origin": ""}, False),
        ({"host": "a.org", "origin": "http://a.org:port"}, False),
        ({"host": "a.org", "origin": "file://a.org"}, False),
        ({"host": "localhost", "origin": "http://localhost.b.org"}, False),
    ],
)
def test_a_foreign_pages_websocket_never_reaches_streamlit(
    headers: dict[str, str], welcome: bool
) -> None:
    seen: list[str | None] = []
    assert is_let_in(client_of(seen), **headers) is welcome
    # Without an origin Streamlit asks nobody whose it is.
    assert seen == [None] * welcome


def test_the_operator_says_which_other_sites_may() -> None:
    client = client_of([], POSEMBED_ORIGINS="https://b.org http://c.org:81")
    for origin in ("https://b.org", "https://b.org:443", "http://c.org:81"):
        assert is_let_in(client, host="a.org", origin=origin)
    for origin in ("http://b.org", "https://c.org:81", "http://c.org"):
        assert not is_let_in(client, host="a.org", origin=origin)


@pytest.mark.parametrize("named", ["b.org", "https://b.org/courses", "ws://b.org", "*"])
def test_what_is_no_origin_stops_the_server(named: str) -> None:
    with pytest.raises(ValueError, match="POSEMBED_ORIGINS must be origins"):
        door.middleware({"POSEMBED_ORIGINS": named})


def test_every_answer_has_the_headers_once() -> None:
    client = client_of([], POSEMBED_FRAME_ANCESTORS="'self' https://b.org")
    for path in ("/", "/nowhere"):
        headers = client.get(path).headers
        for name, value in door.security_headers("'self' https://b.org").items():
            assert headers.get_list(name) == [value]
