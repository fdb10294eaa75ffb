"""What is on the screen as code and as files."""

from pages._ui.takeaway.chart import Chart, show
from pages._ui.takeaway.code import IN_PYTORCH, NothingShownError, Script
from pages._ui.takeaway.files import Table, View
from pages._ui.takeaway.view import OnScreen, remember, remembered, tools, whole

__all__ = [
    "IN_PYTORCH",
    "Chart",
    "NothingShownError",
    "OnScreen",
    "Script",
    "Table",
    "View",
    "remember",
    "remembered",
    "show",
    "tools",
    "whole",
]
