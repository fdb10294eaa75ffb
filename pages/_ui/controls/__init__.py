"""Settings as widgets and as a link: what a page asks its visitors, and where the URL keeps it."""

from pages._ui.controls.choices import Several, several, slots, view_of
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
    "encoding_choice",
    "encoding_fields",
    "open_link",
    "setting",
    "several",
    "slider",
    "slots",
    "view_of",
]
