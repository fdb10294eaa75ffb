"""The pages of the app: what each is called, what it shows, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pages._ui.escaped import in_html

FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class SitePage:
    """A page's file under ``pages/``, its title in the menu, and its path in the URL.

    ``shows`` is one sentence about what is seen there.
    """

    file: str
    title: str
    path: str
    shows: str


# The first one is the landing page.
PAGES = (
    SitePage(
        "combine.py", "Combine", "combine",
        "Each token's vector e, what its position contributes, and h, the two together.",
    ),
    SitePage(
        "table.py", "Table", "table",
        "A learned vector for each position: as noise, in training, and in a real model.",
    ),
    SitePage(
        "attention.py", "Attention", "attention",
        "Which token attends to which in one sentence, with several encodings side by side.",
    ),
    SitePage(
        "compare.py", "Compare", "compare",
        "Encodings side by side, grouped by the door through which position enters.",
    ),
    SitePage(
        "long_context.py", "Long context", "long-context",
        "How a model's RoPE is stretched to read further than it was trained to.",
    ),
    SitePage(
        "lesson.py", "Lessons", "lesson",
        "Short paths through the other pages, with questions whose answers are computed.",
    ),
)  # fmt: skip
# Lessons lead through all pages but their own list.
SHOWN = tuple(page.path for page in PAGES if page.path != "lesson")

_STYLE = (Path(__file__).parent / "site.css").read_text("utf-8")


def heading(page: SitePage) -> str:
    """The page's title and its sentence in one slim line of HTML, and a phone's settings button."""
    title, shows = in_html(page.title), in_html(page.shows)
    line = f'<div class="page-heading">{settings_button()}<h1>{title}</h1> <h2>{shows}</h2></div>'
    return f"<style>{_STYLE}</style>{line}"


def settings_button(name: str = "Settings") -> str:
    """What shows the settings where they are folded away, in HTML."""
    return f'<details class="page-settings"><summary>{in_html(name)}</summary></details>'
