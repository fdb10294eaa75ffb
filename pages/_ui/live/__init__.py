"""Browser components: a slider that reports while it moves, a chart that keeps up, and a stage.

They know nothing of the app around them. A page draws charts with `plot` and the names beside it,
and finds the rest under four words: `slider`, `notes` under a chart, `page` (the stage, saving
charts as pictures) and `serving`. Their JavaScript and plotly.js are served by the routes that
`serving.routes()` returns: `st.App("page.py", routes=[*live.serving.routes(), …])`.
`serving.middleware()` announces them to browsers; `serving.get_ready()` is for the app's lifespan.
"""

from pages._ui.live import lens, notes, page, serving, slider
from pages._ui.live.packets import PackedArray, PackedFigure, pack_array, pack_figure
from pages._ui.live.plot import Click, PlotEvents, events_of, plot

__all__ = [
    "Click",
    "PackedArray",
    "PackedFigure",
    "PlotEvents",
    "events_of",
    "lens",
    "notes",
    "pack_array",
    "pack_figure",
    "page",
    "plot",
    "serving",
    "slider",
]
