"""Who asks, and whether they are still there: a visitor may have many tabs."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

_COOKIE = "_streamlit_xsrf"


def visitor() -> str:
    """The browser whose session runs, which all of its tabs share.

    Known by the token in Streamlit's cookie, not by the address, which a class may have in common.
    A browser that keeps no cookies is a visitor in each tab. "" outside of a session.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return ""
    return token(st.context.cookies.get(_COOKIE)) or context.session_id


def presence() -> Callable[[], bool]:
    """Says, to any thread and at any time, whether the session that runs now is still open.

    What asks outside of a session always is.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return lambda: True
    session, server = context.session_id, runtime.get_instance()
    return lambda: server.is_active_session(session)


def token(cookie: object) -> str:
    """What stays the same of the cookie, which is masked anew in every answer; "" for no such."""
    if not isinstance(cookie, str):
        return ""
    read, _ = decode_xsrf_token_string(cookie)
    return read.hex() if read else ""
