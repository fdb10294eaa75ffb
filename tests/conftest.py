"""Checks every shape and type that the core's signatures promise; one browser; who runs what."""

from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

from tests.chromium import browser, new_page, page, traffic, warm

__all__ = ["browser", "new_page", "page", "traffic", "warm"]  # fixtures

# Before anything imports the core, else what is imported already stays unchecked. An int where a
# float is promised is fine, as it is for mypy.
install_import_hook(
    "posembed_core", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)

# The same examples in every run, and no example is timed.
settings.register_profile("posembed", derandomize=True, deadline=None, database=None)
settings.load_profile("posembed")

HERE = Path(__file__).parent
# Where a test takes seconds it comes early: `pytest -n 2` then ends with small things to share out.
# What lies in no folder of these comes first of all: the wheel is built and installed there.
ORDER = ("deploy", "browser", "ui", "core")
ALONE = ("browser", "deploy")  # folders whose tests go to whichever process is free


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests, and let `pytest -n 2 --dist loadgroup` keep together what shares a set-up.

    That is the replicas behind the proxy, the server of a module, and in the folders where tests
    are quick all tests of a module.
    """
    sizes: dict[str, int] = {}
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
            sizes[group] = sizes.get(group, 0) + 1
    items.sort(key=lambda item: (_rank(item), -sizes.get(_group(item), 0)))


def _rank(item: pytest.Item) -> int:
    folder = item.path.relative_to(HERE).parts[0]
    return ORDER.index(folder) if folder in ORDER else -1


def _group(item: pytest.Item) -> str:
    """The name of those that run in one process, one after the other; "" for any process."""
    names = set(getattr(item, "fixturenames", ()))
    if "cluster" in names:
        return "cluster"
    place = item.path.relative_to(HERE)
    return "" if place.parts[0] in ALONE and "url" not in names else str(place)
