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

_STYLE = """
.page-heading { margin-bottom: -0.5rem }
.page-heading :is(h1, h2) { display: inline; font-size: 0.9375rem; line-height: 1.3;
  letter-spacing: 0; padding: 0; margin: 0 }
.page-heading h2 { font-weight: 400 }
/* A step of a lesson says what is seen: there the heading is for screen readers alone. */
body:has(.st-key-lesson) [data-testid=stElementContainer]:has(.page-heading) { position: absolute;
  width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
"""


def heading(page: SitePage) -> str:
    """The page's title and its sentence in one slim line of HTML."""
    title, shows = in_html(page.title), in_html(page.shows)
    line = f'<div class="page-heading"><h1>{title}</h1> <h2>{shows}</h2></div>'
    return f"<style>{_STYLE}</style>{line}"
