"""The page about long contexts: its settings, pictures, words and files."""

from pages._ui.long_context.settings import (
    PAGE,
    SLIDERS,
    Chosen,
    ask_sliders,
    choose_config,
    choose_layers,
    choose_pictures,
    question,
)
from pages._ui.long_context.takeaway import rope_tools, tools_without_rotation
from pages._ui.long_context.views import draw, draw_config

__all__ = [
    "PAGE",
    "SLIDERS",
    "Chosen",
    "ask_sliders",
    "choose_config",
    "choose_layers",
    "choose_pictures",
    "draw",
    "draw_config",
    "question",
    "rope_tools",
    "tools_without_rotation",
]
