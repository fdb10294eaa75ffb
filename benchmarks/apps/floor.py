"""The floor's server: the app itself, but for a landing page that shows one line of text."""

from dataclasses import replace

import streamlit as st

import app as posembed
from pages._ui import live, site

site.PAGES = (
    replace(site.PAGES[0], file="../benchmarks/apps/floor_page.py"),
    *site.PAGES[1:],
)
app = st.App("../../pages/navigation.py", lifespan=posembed.lifespan, routes=live.serving.routes())
