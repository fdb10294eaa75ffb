"""Settings as widgets and as a link: what a page asks its visitors, and where the URL keeps it."""

from pages._ui.controls.choices import Several, choose_in_order, choose_several, choose_view
from pages._ui.controls.controls import (
    Indices,
    Text,
    encoding_choice,
    encoding_fields,
    setting,
    slider,
)
from pages._ui.controls.link import Link, open_link

__all__ = [
    "Indices",
    "Link",
    "Several",
    "Text",
    "choose_in_order",
    "choose_several",
    "choose_view",
    "encoding_choice",
    "encoding_fields",
    "open_link",
    "setting",
    "slider",
]
