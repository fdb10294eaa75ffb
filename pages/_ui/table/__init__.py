"""The page about tables: its settings, sources, training, views, pictures, words and files."""

from pages._ui.table.settings import PAGE, Chosen
from pages._ui.table.sources import upload
from pages._ui.table.training import choose_spec, choose_task, follow, goal_of, shared
from pages._ui.table.views import VIEWS

__all__ = [
    "PAGE",
    "VIEWS",
    "Chosen",
    "choose_spec",
    "choose_task",
    "follow",
    "goal_of",
    "shared",
    "upload",
]
