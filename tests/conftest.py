"""Checks every shape and type that the core's signatures promise; one browser; who runs what."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook
from xdist.scheduler import LoadScopeScheduling

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

# Where a test takes seconds it comes early: two processes then end with small things to share out.
# What lies in no folder of these comes first of all: the wheel is built and installed there.
ORDER = ("deploy", "browser", "ui", "core")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests by folder, then those that share a set-up by how many they are."""
    sizes = Counter(_unit(item.nodeid) for item in items)
    items.sort(key=lambda item: (_rank(item.nodeid), -sizes[_unit(item.nodeid)]))


class Units(LoadScopeScheduling):
    """Keeps what shares a set-up in one process; the rest goes to whichever is free.

    xdist's own groups are not heeded with pytest 9.2: it takes a test's name for fixed.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _unit(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Units | None:
    """For `pytest -n 2 --dist loadscope`."""
    return Units(config, log) if config.getvalue("dist") == "loadscope" else None


def _rank(nodeid: str) -> int:
    folder = nodeid.split("/")[1]
    return ORDER.index(folder) if folder in ORDER else -1


def _unit(nodeid: str) -> str:
    """What runs in one process, one after the other: the cluster's tests, else mostly a module."""
    module = nodeid.partition("::")[0]
    if module in {"tests/deploy/test_proxy.py", "tests/deploy/test_replicas.py"}:
        return "cluster"
    alone = module.startswith(("tests/browser/", "tests/deploy/"))
    return nodeid if alone and module != "tests/browser/test_live.py" else module
