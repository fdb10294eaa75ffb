"""The landing page: its settings, pictures, words and files."""

from pages._ui.combine.pictures import show_chart, zoom_of
from pages._ui.combine.settings import (
    PAGE,
    SLIDERS,
    Chosen,
    choose,
    choose_sizes,
    fitted_at,
    shared,
    type_sentence,
)
from pages._ui.combine.takeaway import combination_shown
from pages._ui.combine.words import equation

__all__ = [
    "PAGE",
    "SLIDERS",
    "Chosen",
    "choose",
    "choose_sizes",
    "combination_shown",
    "equation",
    "fitted_at",
    "shared",
    "show_chart",
    "type_sentence",
    "zoom_of",
]
