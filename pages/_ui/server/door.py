"""The one way in: foreign pages get no session, and every answer says what a page may do.

Streamlit asks an outside host for this machine's address, inside the event loop, when a websocket
comes from a page that it doesn't know: 2 s in which nobody is served. So it never sees one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

# As nginx adds them in deploy/nginx.conf.template, to its own answers, too.
_POLICY = (
    "default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none'; "
    "script-src 'self' 'unsafe-inline' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' blob: data:; font-src 'self' data:; worker-src 'self' blob:; "
    "frame-ancestors {ancestors}"
)
_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}


class Door:
    """Middleware around all of the app.

    ``origins`` are those of other sites whose pages may open a session, such as
    ``https://courses.example.org``. ``ancestors`` says who may embed the app, in the words of the
    policy's frame-ancestors.
    """

    def __init__(
        self, app: ASGIApp, origins: Iterable[str] = (), ancestors: str = "'self'"
    ) -> None:
        self.app = app
        self.origins = frozenset(map(_place, origins))
        self.headers = security_headers(ancestors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a foreign websocket with 403; add the headers to what is answered otherwise."""
        if scope["type"] == "websocket":
            if not self._is_welcome(Headers(scope=scope)):
                await receive()
                await send({"type": "websocket.close", "code": 1008})
                return
            # Already checked: Streamlit would compare it with the host alone.
            scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"origin"]
        elif scope["type"] == "http":
            send = self._with_headers(send)
        await self.app(scope, receive, send)

    def _is_welcome(self, headers: Headers) -> bool:
        """Whether the page is one of ours, or one of the sites that may; programs have no origin.

        A proxy in front may send on the visitor's host as X-Forwarded-Host: a page elsewhere can't
        set it.
        """
        origin = headers.get("origin")
        if origin is None:
            return True
        forwarded = headers.get("x-forwarded-host", "").rpartition(",")[2].strip()
        hosts = [host for host in (headers.get("host"), forwarded) if host]
        scheme = urlsplit(origin).scheme
        own = {_place(f"{scheme}://{host}") for host in hosts}
        return _place(origin) in own | self.origins and scheme in _PORTS

    def _with_headers(self, send: Send) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        return answer


def security_headers(ancestors: str = "'self'") -> Mapping[str, str]:
    """What every answer says to a browser: load nothing from elsewhere, tell nobody else."""
    return {
        "Content-Security-Policy": _POLICY.format(ancestors=ancestors),
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }


def middleware(environment: Mapping[str, str] = os.environ) -> list[Middleware]:
    """The door as the operator set it, to be handed to `st.App(middleware=…)` as the first.

    ``POSEMBED_ORIGINS`` are origins with spaces between, beside Streamlit's own
    `server.corsAllowedOrigins`; ``POSEMBED_FRAME_ANCESTORS`` is who may embed the app. Raises
    `ValueError` for what is no origin.
    """
    named = environment.get("POSEMBED_ORIGINS", "").split()
    for origin in named:
        parts = urlsplit(origin)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/"):
            raise ValueError(
                f"POSEMBED_ORIGINS must be origins with spaces between, such as "
                f"https://courses.example.org, got {origin!r}"
            )
    origins = [*named, *config.get_option("server.corsAllowedOrigins")]
    ancestors = environment.get("POSEMBED_FRAME_ANCESTORS") or "'self'"
    return [Middleware(Door, origins=origins, ancestors=ancestors)]


def _place(origin: str) -> tuple[str, str, str]:
    """Scheme, host and port of an origin, the port written out; no two for what is no origin."""
    try:
        parts = urlsplit(origin.strip())
        port = parts.port
    except ValueError:  # a port that is no number
        return origin, "", ""
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), str(port or _PORTS.get(scheme, ""))
