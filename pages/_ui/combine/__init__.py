"""The landing page: its settings, pictures, words and files."""

from pages._ui.combine.pictures import chosen_cell, show_chart, zoom_of
from pages._ui.combine.settings import (
    PAGE,
    SLIDERS,
    Chosen,
    choose,
    choose_sizes,
    fitted_at,
    type_sentence,
)
from pages._ui.combine.takeaway import combination_shown
from pages._ui.combine.words import equation, explain

__all__ = [
    "PAGE",
    "SLIDERS",
    "Chosen",
    "choose",
    "choose_sizes",
    "chosen_cell",
    "combination_shown",
    "equation",
    "explain",
    "fitted_at",
    "show_chart",
    "type_sentence",
    "zoom_of",
]
