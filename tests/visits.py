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
    """The page ``pages/<page>.py`` as one who comes by its link sees it.

    state: what the session's state holds already.
    """
    app = AppTest.from_file(str(NAVIGATION), default_timeout=120)
    app._bidi_component_manager = _components()
    (path,) = [site.path for site in PAGES if site.file == f"{page}.py"]
    if path != PAGES[0].path:
        # `switch_page` works only after a run, on the landing page: here it would cost as much as
        # the page that is wanted. Streamlit knows a page by the hash of its path.
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
    """One register of components for all sessions, as a server has.

    `AppTest` makes one for each, and reads the metadata of every installed distribution for that:
    four fifths of a test's time.
    """
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager
