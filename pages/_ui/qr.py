"""The link of the current view as a QR code, large enough for the last row."""

from __future__ import annotations

import io
import ipaddress
import socket
from pathlib import Path
from urllib.parse import SplitResult, urlencode, urlsplit, urlunsplit

import segno
import streamlit as st
from streamlit import config

from pages._ui.escaped import in_markdown

# Of a network that is in examples only (RFC 5737): nothing is ever sent to it.
_NOBODY = ("198.51.100.1", 9)
_IN_CONTAINER = Path("/.dockerenv")
HOW = {
    "loopback": "The server listens to this computer only: start it with "
    "`--server.address 0.0.0.0`, and open the app again.",
    "unknown": "The address of this computer in the room isn't known here. Look it up in the "
    "network settings and start the server with `--browser.serverAddress` and that address.",
}


@st.dialog("Link of this view", width="large")
def show_code() -> None:
    """The code, and the link itself to copy; or how to get one that works in the room."""
    parts = urlsplit(st.context.url or "")
    host = host_for_others(parts.hostname or "")
    if host in HOW:
        st.info(
            f"**{in_markdown(parts.hostname)}** means another computer on each phone. {HOW[host]}"
        )
        return
    link = address(parts, host)
    try:
        code = st.container(key="code", horizontal_alignment="center")
        code.image(svg_of(link), width="content", alt=f"QR code of {link}")
    except segno.DataOverflowError:
        st.info(f"This link has {len(link):,} characters, more than a QR code holds: copy it.")
    st.code(link, language=None, wrap_lines=True)


def address(parts: SplitResult, host: str) -> str:
    """What stands in the browser's address bar at a host, without ``present`` and ``embed``."""
    params = st.query_params.to_dict()
    params.pop("present", None)  # for the projector, not for a phone
    port = f":{parts.port}" if parts.port else ""
    name = f"[{host}]" if ":" in host else host
    place = parts._replace(netloc=f"{name}{port}", path=parts.path or "/", query=urlencode(params))
    return urlunsplit(place)


def host_for_others(host: str) -> str:
    """The host in the browser's address bar as other computers in the room reach it.

    Where that is this computer's own name for itself, its address in the room; or, where there is
    none, a key of `HOW`.
    """
    if _reach(host) == "others":
        return host
    configured = str(config.get_option("browser.serverAddress") or "localhost")
    if _reach(configured) == "others":
        return configured
    listens = config.get_option("server.address")
    reach = _reach(str(listens)) if listens else "any"
    if reach == "others":
        return str(listens)
    if reach == "loopback":
        return "loopback"
    return "unknown" if _IN_CONTAINER.exists() else room_address() or "unknown"


def room_address() -> str:
    """This computer's address in its network, "" where it has none; asks no other computer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # For UDP this only chooses the way that a packet would take.
            probe.connect(_NOBODY)
            own = str(probe.getsockname()[0])
        except OSError:  # no way out, as in a room without a router
            own = ""
    if own and _reach(own) == "others":
        return own
    try:
        named = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except OSError:  # the computer's name has no address
        return ""
    hosts = [str(place[4][0]) for place in named]
    return next((host for host in hosts if _reach(host) == "others"), "")


def _reach(host: str) -> str:
    """Who can use an address: "others", none but this computer ("loopback"), or "any" of it."""
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    try:
        address_of = ipaddress.ip_address(host)
    except ValueError:  # a name
        return "others"
    if address_of.is_unspecified:
        return "any"
    return "loopback" if address_of.is_loopback else "others"


def svg_of(link: str) -> str:
    """The code as an SVG text: dark on white with a quiet zone, in either theme.

    Raises `segno.DataOverflowError` for a link that is too long.
    """
    out = io.BytesIO()
    # The fewest modules, so that each is large; a screen needs no more correction than that.
    code = segno.make_qr(link, error="l", boost_error=False)
    code.save(out, kind="svg", xmldecl=False, scale=10, border=4, dark="#000", light="#fff")
    return out.getvalue().decode("utf-8")
