"""What a reader did with a chart: a click, a zoom, and what is pointed at."""

from pages._ui.live.plot import Click, PlotEvents, events_of

__all__ = ["Click", "PlotEvents", "events_of"]
