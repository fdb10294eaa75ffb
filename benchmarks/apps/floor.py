"""The floor's server: the app's own lifespan, and a page with the sliders and a line of text."""

import streamlit as st

import app as posembed
from pages._ui import live

app = st.App("floor_page.py", lifespan=posembed.lifespan, routes=live.routes())
