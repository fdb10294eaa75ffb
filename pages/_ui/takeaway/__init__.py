"""What is on the screen, as code and as files."""

from pages._ui.takeaway.chart import Chart, show
from pages._ui.takeaway.code import IN_PYTORCH, NothingShownError, Script
from pages._ui.takeaway.files import Table, Text
from pages._ui.takeaway.view import OnScreen, Plot, remember, remembered, tools

__all__ = [
    "IN_PYTORCH",
    "Chart",
    "NothingShownError",
    "OnScreen",
    "Plot",
    "Script",
    "Table",
    "Text",
    "remember",
    "remembered",
    "show",
    "tools",
]
