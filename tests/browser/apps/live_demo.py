"""The server of a page that shows the live components at work: `streamlit run` this file."""

import gc
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[3]))

from pages._ui import live


@asynccontextmanager
async def lifespan(app):
    """Without the freeze, the collection after each run would be the slowest part of a frame."""
    gc.collect()
    gc.freeze()
    yield


app = st.App("live_demo_page.py", lifespan=lifespan, routes=live.serving.routes())
