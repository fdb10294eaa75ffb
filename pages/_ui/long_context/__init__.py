"""The page about long contexts: its settings, pictures, words and files."""

from pages._ui.long_context.settings import (
    PAGE,
    SLIDERS,
    Chosen,
    ask_sliders,
    choose_config,
    choose_layers,
    choose_pictures,
    offer_json,
    reading_of,
)
from pages._ui.long_context.takeaway import report_popover, rope_shown
from pages._ui.long_context.views import draw
from pages._ui.long_context.words import finding_text

__all__ = [
    "PAGE",
    "SLIDERS",
    "Chosen",
    "ask_sliders",
    "choose_config",
    "choose_layers",
    "choose_pictures",
    "draw",
    "finding_text",
    "offer_json",
    "reading_of",
    "report_popover",
    "rope_shown",
]
