"""A page of the app in a session without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages._ui.site import PAGES

NAVIGATION = Path(__file__).parents[1] / "pages" / "navigation.py"


def arrived(
    page: str, params: Mapping[str, str] | None = None, state: Mapping[str, Any] | None = None
) -> AppTest:
    """The page ``pages/<page>.py`` as somebody who follows a link sees it.

    state: what is already in the session's state.
    """
    app = AppTest.from_file(str(NAVIGATION), default_timeout=120)
    app._bidi_component_manager = _components()
    (path,) = [site.path for site in PAGES if site.file == f"{page}.py"]
    if path != PAGES[0].path:
        # `switch_page` works only after a run of the landing page, which would take as long as the
        # page that is wanted. Streamlit identifies a page by the hash of its path.
        app._page_hash = calc_hash(path)
    for name, value in (params or {}).items():
        app.query_params[name] = value
    for key, value in (state or {}).items():
        app.session_state[key] = value
    app.run()
    assert not app.exception
    return app


def opened(page: str, button: str, **params: str) -> AppTest:
    """The page ``pages/<page>.py`` at a link, with the button of that key open."""
    return arrived(page, params, {button: True})


@cache
def _components() -> BidiComponentManager:
    """One register of components for all sessions, as on a server.

    `AppTest` makes one for each session, reading the metadata of every installed distribution:
    four fifths of a test's time.
    """
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager
