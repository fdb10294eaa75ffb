"""What acts on the page around the charts: the stage, and buttons that save them as pictures."""

from pages._ui.live.picture import bundle_button, picture_buttons
from pages._ui.live.stage import key_selector, stage

__all__ = ["bundle_button", "key_selector", "picture_buttons", "stage"]
