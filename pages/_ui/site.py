"""The pages of the app: what each is called and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class SitePage:
    """A page's file under ``pages/``, its title in the menu, and its path in the URL."""

    file: str
    title: str
    path: str


# The first one is the landing page.
PAGES = (
    SitePage("combine.py", "Combine", "combine"),
    SitePage("table.py", "Table", "table"),
    SitePage("attention.py", "Attention", "attention"),
    SitePage("compare.py", "Compare", "compare"),
    SitePage("long_context.py", "Long context", "long-context"),
    SitePage("lesson.py", "Lessons", "lesson"),
)
# Lessons lead through all pages but their own list.
SHOWN = tuple(page.path for page in PAGES if page.path != "lesson")
