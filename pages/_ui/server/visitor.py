"""Who asks: turns are taken by visitors, of whom one may have many tabs."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

_COOKIE = "_streamlit_xsrf"


def visitor() -> str:
    """The browser whose session runs, which all of its tabs share.

    Known by the token in Streamlit's cookie, not by the address, which a class may have in common.
    A browser that keeps no cookies is a visitor in each tab. "" outside of a session.
    """
    context = get_script_run_ctx()
    if context is None:
        return ""
    return token(st.context.cookies.get(_COOKIE)) or context.session_id


def token(cookie: object) -> str:
    """What stays the same of the cookie, which is masked anew in every answer; "" for no such."""
    if not isinstance(cookie, str):
        return ""
    read, _ = decode_xsrf_token_string(cookie)
    return read.hex() if read else ""
