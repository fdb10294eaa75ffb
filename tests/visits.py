"""A page of the app in a session without a browser."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

NAVIGATION = Path(__file__).parents[1] / "pages" / "navigation.py"


def opened(page: str, button: str, **params: str) -> AppTest:
    """The page ``pages/<page>.py`` at a link, with the button of that key open."""
    app = AppTest.from_file(str(NAVIGATION), default_timeout=60).run()
    if page != "combine":
        app.switch_page(f"{page}.py")
    for name, value in params.items():
        app.query_params[name] = value
    app.session_state[button] = True
    app.run()
    assert not app.exception
    return app
