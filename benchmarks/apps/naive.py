"""The page that one would write by hand: computed in each run, `px.imshow`, `st.plotly_chart`.

Kinder than most: NumPy without loops, one picture (the sum) and no norms.
"""

import numpy as np
import plotly.express as px
import streamlit as st

st.set_page_config(layout="wide", page_title="Naive")
length = st.slider("Max length", 1, 8192, int(st.query_params.get("length", 128)))
dimension = st.slider("Dimension", 2, 4096, int(st.query_params.get("dimension", 64)), step=2)
scale = st.slider("Scale", 0.0, 5.0, 1.0, step=0.01)

tokens = np.random.default_rng(123).normal(0, 0.5, (length, dimension))
angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, dimension, 2) / dimension)
positions = np.empty((length, dimension))
positions[:, 0::2], positions[:, 1::2] = np.sin(angles), np.cos(angles)
combined = tokens + scale * positions

st.plotly_chart(px.imshow(combined.T, aspect="auto", color_continuous_scale="RdBu_r"))
