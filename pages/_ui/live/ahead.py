"""Tells a browser with the first answer what the page will need, while Streamlit starts in it."""

from __future__ import annotations

import threading

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages._ui.live.assets import compress_plotly, plotly_url, script_urls


class _Ahead:
    """Adds a ``Link`` header to HTML documents (RFC 8288; the HTML standard, 4.6.7)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def link(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("link", _links())
            await send(message)

        await self.app(scope, receive, link if scope["type"] == "http" else send)


def _links() -> str:
    # Not "preload" for plotly.js: the console of a page without a chart would warn that it was in
    # vain.
    links = [f"<{plotly_url()}>; rel=prefetch"]
    links += [f"<{url}>; rel=modulepreload" for url in script_urls()]
    return ", ".join(links)


def middleware() -> list[Middleware]:
    """The middleware to hand to `st.App(middleware=…)`."""
    return [Middleware(_Ahead)]


def get_ready() -> None:
    """Compress plotly.js (0.3 s) beside the first visitor's start instead of in it."""
    threading.Thread(target=compress_plotly, name="compress", daemon=True).start()
