"""Browser components: a slider that reports while it moves, a chart that keeps up, and a stage.

They know nothing of the app around them. A page draws charts with `plot` and the names beside it,
and finds the rest under seven words: `slider`; `strip`, cells of a few kinds; `notes`, `lens` and
`events` of a chart; `page` (the stage, saving charts as pictures); `serving`. Their JavaScript and
plotly.js are served by the routes that `serving.routes()` returns:
`st.App("page.py", routes=[*live.serving.routes(), …])`. `serving.middleware()` announces them to
browsers; `serving.get_ready()` is for the app's lifespan.
"""

from pages._ui.live import events, lens, notes, page, serving, slider, strip
from pages._ui.live.packets import PackedArray, PackedFigure, pack_array, pack_figure
from pages._ui.live.plot import plot

__all__ = [
    "PackedArray",
    "PackedFigure",
    "events",
    "lens",
    "notes",
    "pack_array",
    "pack_figure",
    "page",
    "plot",
    "serving",
    "slider",
    "strip",
]
