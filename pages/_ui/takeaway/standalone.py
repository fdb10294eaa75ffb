"""A figure as one HTML file that needs no network: plotly.js and the real numbers are in it."""

from __future__ import annotations

import json
import re
import tomllib
from functools import lru_cache
from pathlib import Path

import plotly.graph_objects as go
import plotly.io

from pages._ui.escaped import in_html

_CONFIG = Path(__file__).parents[3] / ".streamlit" / "config.toml"
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
# What Streamlit derives from the colours that the app's theme sets.
_DERIVED = {"border-color": "#c9ced6", "gray-color": "#6b7280", "font": _FONT}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ max-width: 1400px; margin: 1rem auto; padding: 0 1rem; color: {text};
  background: {ground}; font: 1rem/1.5 {font} }}
h1 {{ font-size: 1.25rem }}
button {{ font: inherit; min-height: 2.5rem; padding: 0 .75rem }}
</style>
</head>
<body>
<h1>{title}</h1>
<div role="img" aria-label="{alt}">
{figure}
</div>
<p>{caption}</p>
<p><button type="button" data-format="png">PNG</button>
<button type="button" data-format="svg">SVG</button></p>
<p>Made by Posembed: <a href="{link}">{link}</a></p>
<script>
for (const button of document.querySelectorAll("[data-format]"))
  button.onclick = () => {{
    const graph = document.getElementById("picture")
    const {{ width, height }} = graph._fullLayout
    const format = button.dataset.format
    Plotly.downloadImage(graph, {{ format, width, height, filename: {name},
      scale: format === "png" ? 2 : 1 }})
  }}
</script>
</body>
</html>
"""


def standalone_html(
    figure: go.Figure, *, title: str, alt: str, caption: str, link: str, name: str
) -> str:
    """The whole page; ``alt`` describes the picture in a sentence, ``caption`` stands below it.

    Colours written as ``var(--…)`` become those of the light theme. ``name`` is what the files
    of the page's PNG and SVG buttons are called.
    """
    copy = go.Figure(json.loads(_coloured(figure.to_json())))
    copy.update_layout(
        paper_bgcolor=_colours()["background-color"],
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": _FONT, "color": _colours()["text-color"]},
        autosize=True,
        width=None,
    )
    for trace in copy.data:
        if isinstance(trace, go.Heatmap):
            for axis in (trace.xaxis or "x", trace.yaxis or "y"):
                copy.layout[f"{axis[0]}axis{axis[1:]}"].update(showgrid=False, zeroline=False)
    drawn = plotly.io.to_html(
        copy,
        include_plotlyjs=True,
        full_html=False,
        div_id="picture",
        config={"displaylogo": False, "responsive": True},
    )
    return _PAGE.format(
        title=in_html(title),
        alt=in_html(alt),
        caption=in_html(caption),
        link=in_html(link),
        name=json.dumps(name).replace("<", "\\u003c"),
        figure=drawn,
        text=_colours()["text-color"],
        ground=_colours()["background-color"],
        font=_FONT,
    )


def _coloured(text: str) -> str:
    """Replace CSS variables, which a standalone file lacks, with the theme's colours."""
    text = re.sub(r"var\(--either-(\w{6})-\w{6}\)", r"#\1", text)
    return re.sub(
        r"var\(--st-([\w-]+)\)", lambda match: json.dumps(_colours()[match[1]])[1:-1], text
    )


@lru_cache
def _colours() -> dict[str, str]:
    """The light theme's colours by the names of Streamlit's CSS variables, without ``--st-``."""
    light = tomllib.loads(_CONFIG.read_text(encoding="utf-8"))["theme"]["light"]
    return _DERIVED | {
        re.sub(r"[A-Z]", lambda match: f"-{match[0].lower()}", name): value
        for name, value in light.items()
    }
