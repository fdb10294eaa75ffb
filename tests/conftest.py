"""Shape checks for the core's signatures, one browser for all tests, and the order of tests."""

import os
from collections import Counter
from typing import Any

# Before anything loads torch: as in the app, a computation takes one core. Two processes of tests
# whose small sines each wait for a second thread took four times the CPU.
os.environ["OMP_NUM_THREADS"] = "1"

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook
from xdist.scheduler import LoadScopeScheduling

from tests.chromium import browser, new_page, page, traffic, warm

__all__ = ["browser", "new_page", "page", "traffic", "warm"]  # fixtures

# Must come before anything imports the core: modules imported earlier stay unchecked. An int where
# a float is promised is fine, as it is for mypy.
install_import_hook(
    "posembed_core", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)

# The same examples in every run, and no example is timed.
settings.register_profile("posembed", derandomize=True, deadline=None, database=None)
settings.load_profile("posembed")

# Slow tests come early, so that two processes have small ones left to share out at the end. Tests
# in none of these folders come first of all: one of them builds and installs the wheel.
ORDER = ("deploy", "browser", "ui", "core")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests by folder; within one, the largest groups that share a set-up come first.

    What asks every model type of transformers runs with `make test-models` alone.
    """
    if "models" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("models")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("models")]
    sizes = Counter(_unit(item.nodeid) for item in items)
    items.sort(key=lambda item: (_rank(item.nodeid), -sizes[_unit(item.nodeid)]))


class Units(LoadScopeScheduling):
    """Keeps tests that share a set-up in one process; the others go to whichever is free.

    xdist's own groups don't work with pytest 9.2: xdist tries to rename the tests.
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
    """The tests that one process runs in a row: all of the cluster's, otherwise mostly a module."""
    module = nodeid.partition("::")[0]
    if module in {"tests/deploy/test_proxy.py", "tests/deploy/test_replicas.py"}:
        return "cluster"
    alone = module.startswith(("tests/browser/", "tests/deploy/"))
    return nodeid if alone and module != "tests/browser/test_live.py" else module
