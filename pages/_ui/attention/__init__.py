"""The page about attention: its settings, views, pictures, words and files."""

from pages._ui.attention.settings import (
    OF_VIEWS,
    PAGE,
    choose_encodings,
    choose_head,
    choose_scene,
    chosen_or_why,
    finish,
    shared,
)
from pages._ui.attention.views import VIEWS

__all__ = [
    "OF_VIEWS",
    "PAGE",
    "VIEWS",
    "choose_encodings",
    "choose_head",
    "choose_scene",
    "chosen_or_why",
    "finish",
    "shared",
]
