"""A visitor is a browser, with all of its tabs."""

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from pages._ui.server.visitor import token, visitor


def asked() -> None:
    import streamlit as st

    from pages._ui.server.visitor import visitor

    st.text(visitor())


def session() -> str:
    return str(AppTest.from_function(asked).run().text[0].value)


def test_a_cookie_masked_anew_is_the_same_browser() -> None:
    browser, other = bytes(range(16)), bytes(16)
    first, second = (generate_xsrf_token_string(browser) for _ in range(2))
    assert first != second
    assert token(first) == token(second) != token(generate_xsrf_token_string(other))


@pytest.mark.parametrize("cookie", [None, "", "2|", "2|zz|zz|now", "nonsense", 3, "\N{SNOWMAN}"])
def test_what_is_no_cookie_of_ours_is_nobody(cookie: Any) -> None:
    assert token(cookie) == ""


def test_tabs_share_the_browser_s_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    cookies: dict[str, str] = {}
    monkeypatch.setattr(type(st.context), "cookies", property(lambda _: cookies))
    alone = session()
    assert alone
    cookies["_streamlit_xsrf"] = generate_xsrf_token_string(bytes(16))
    assert session() == session() == bytes(16).hex() != alone


def test_there_is_no_visitor_outside_of_a_session() -> None:
    assert visitor() == ""
