"""The page that compares encodings: its settings, facts, words and files."""

from pages._ui.compare.facts import SAID, facts_table, packed
from pages._ui.compare.settings import PAGE, Chosen, choose, shared
from pages._ui.compare.takeaway import comparison_shown
from pages._ui.compare.words import about_the_table, alt, clicked, fadings

__all__ = [
    "PAGE",
    "SAID",
    "Chosen",
    "about_the_table",
    "alt",
    "choose",
    "clicked",
    "comparison_shown",
    "facts_table",
    "fadings",
    "packed",
    "shared",
]
