"""Three heatmaps and three lines under one slider; `?rows=…&cols=…&floor=1` choose the load."""

import time

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from pages._ui import live

st.set_page_config(layout="wide", page_title="Live demo")
rows = int(st.query_params.get("rows", 64))
cols = int(st.query_params.get("cols", 128))
TERMS = ("token", "position", "combined")
COLOURS = ("var(--st-blue-color)", "var(--st-orange-color)", "var(--st-green-color)")


@st.cache_resource(max_entries=4)
def matrices(rows, cols):
    """Noise, and a ramp whose corner says which way is up; one cell without a value."""
    noise = np.random.default_rng(0).normal(0, 0.5, (rows, cols))
    noise[2, 3] = np.nan
    place = np.outer(np.linspace(-1, 1, rows), np.linspace(0, 1, cols))
    return live.pack_array(noise), live.pack_array(place), noise, place


@st.cache_resource(max_entries=4)
def picture(rows, cols):
    """The figure without any values."""
    fig = make_subplots(
        2,
        3,
        specs=[[{}, {}, {}], [{"colspan": 3}, None, None]],
        row_heights=[0.65, 0.35],
        subplot_titles=TERMS,
    )
    for i, name in enumerate(TERMS, 1):
        fig.add_heatmap(
            name=name,
            coloraxis="coloraxis",
            row=1,
            col=i,
            hovertemplate="row %{y}, column %{x}: %{z:.3g}<extra></extra>",
        )
        fig.add_scatter(
            name=f"|{name}|",
            x=np.arange(cols),
            y=np.zeros(cols),
            mode="lines",
            line_color=COLOURS[i - 1],
            row=2,
            col=1,
        )
        fig.update_xaxes(range=[-0.5, cols - 0.5], matches="x", row=1, col=i)
        fig.update_yaxes(range=[-0.5, rows - 0.5], matches="y", row=1, col=i)
    fig.update_xaxes(range=[-0.5, cols - 0.5], matches="x", row=2, col=1)
    fig.update_yaxes(range=[0, 5 * rows**0.5], row=2, col=1)
    fig.update_layout(
        height=560,
        margin={"l": 40, "r": 20, "t": 30, "b": 30},
        template="none",
        coloraxis={"cmin": -2, "cmax": 2, "colorscale": "RdBu_r"},
    )
    tall = {
        f"yaxis{i or ''}": {"domain": [1 - (k + 1) * 0.25 + 0.04, 1 - k * 0.25]}
        for k, i in enumerate((0, 2, 3, 4))
    }
    wide = {f"xaxis{i}": {"domain": [0, 1]} for i in ("", 2, 3)}
    return live.pack_figure(fig, narrow={"height": 1100, "annotations": [], **tall, **wide})


@st.fragment
def page():
    """One slider, the picture, and what the browser reported."""
    st.button("two", on_click=live.slider.set_live_slider, args=("scale", 2.0))
    scale = live.slider.live_slider("Scale", key="scale", value=1.0, low=0.0, high=4.0, step=0.01)
    length = live.slider.live_slider(
        "Length", key="length", value=128, low=1, high=8192, step=1, log=True, format="%d tokens"
    )
    st.text(f"scale {scale} length {length}")
    if "floor" in st.query_params:
        return
    time.sleep(float(st.query_params.get("slow", 0)))
    token, position, e, p = matrices(rows, cols)
    total = np.nan_to_num(e) + scale * p
    events = live.plot(
        picture(rows, cols),
        key="demo",
        arrays={"e": token, "p": position},
        mixes={"token": {"e": 1}, "position": {"p": scale}, "combined": {"e": 1, "p": scale}},
        lines={
            "|token|": np.linalg.norm(np.nan_to_num(e), axis=0),
            "|position|": np.linalg.norm(scale * p, axis=0),
            "|combined|": np.linalg.norm(total, axis=0),
        },
        alt="Three heatmaps and their norms",
    )
    st.text(f"click {events.click}")
    st.text(f"zoom {dict(events.zoom)}")


page()
if "more" in st.query_params:
    live.plot(go.Figure(go.Bar(x=["a", "b"], y=[1, 2])), key="bars", height=200, alt="Bars")
    live.plot(go.Figure(go.Scatter3d(x=[0, 1], y=[0, 1], z=[0, 1])), key="solid", height=300)
    live.plot(
        go.Figure(go.Heatmap(z=[[1.0, 2.0], [3.0, np.nan]], x=["a", "b"])), key="own", height=200
    )
    steps = np.arange(20)
    stack = np.sin(steps[:, None, None] / 3 + np.arange(24)[:, None] + np.arange(16) / 5)
    training = make_subplots(1, 2)
    training.add_heatmap(name="table", zmin=-1, zmax=1, colorscale="RdBu", row=1, col=1)
    training.add_scatter(name="loss", x=steps, mode="lines", row=1, col=2)
    training.update_yaxes(range=[0, 1], col=2)
    training.update_xaxes(range=[0, 20], col=2)
    live.plot(
        training,
        key="training",
        height=250,
        alt="A table while it is trained",
        arrays={"table": stack},
        mixes={"table": {"table": 1}},
        lines={"loss": np.exp(-steps / 5)},
        snapshots=[f"step {step}" for step in steps],
        grow=["loss"],
    )
