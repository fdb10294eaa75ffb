"""Browser components: a slider that reports while it moves, a chart that keeps up, and a stage.

They know nothing of the app around them. Their JavaScript and plotly.js are served by the routes
that `routes()` returns: `st.App("page.py", routes=[*live.routes(), …])`. `middleware()` announces
them to browsers; `get_ready()` is for the app's lifespan.
"""

from pages._ui.live.ahead import get_ready, middleware
from pages._ui.live.assets import routes
from pages._ui.live.counts import sent
from pages._ui.live.notes import Line, Note, Table
from pages._ui.live.packets import (
    PackedArray,
    PackedFigure,
    pack_array,
    pack_figure,
)
from pages._ui.live.picture import bundle_button, picture_buttons
from pages._ui.live.plot import Click, PlotEvents, click_of, plot, zoom_of
from pages._ui.live.shelf import shelf
from pages._ui.live.slider import is_dragging, live_slider, set_live_slider, snap
from pages._ui.live.stage import key_selector, stage

__all__ = [
    "Click",
    "Line",
    "Note",
    "PackedArray",
    "PackedFigure",
    "PlotEvents",
    "Table",
    "bundle_button",
    "click_of",
    "get_ready",
    "is_dragging",
    "key_selector",
    "live_slider",
    "middleware",
    "pack_array",
    "pack_figure",
    "picture_buttons",
    "plot",
    "routes",
    "sent",
    "set_live_slider",
    "shelf",
    "snap",
    "stage",
    "zoom_of",
]
