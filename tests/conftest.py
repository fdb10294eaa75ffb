"""Checks every shape and type that the core's signatures promise, in every test; one browser."""

from hypothesis import settings
from jaxtyping import install_import_hook

from tests.chromium import browser, new_page, page, traffic

__all__ = ["browser", "new_page", "page", "traffic"]  # fixtures

# Before anything imports the core, else what is imported already stays unchecked. An int where a
# float is promised is fine, as it is for mypy.
install_import_hook(
    "posembed_core", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)

# The same examples in every run, and no example is timed.
settings.register_profile("posembed", derandomize=True, deadline=None, database=None)
settings.load_profile("posembed")
