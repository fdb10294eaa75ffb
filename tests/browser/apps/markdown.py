"""A page of texts that the app would show: `streamlit run` this file, TEXTS naming their list."""

import json
import os
from pathlib import Path

import streamlit as st

for text in json.loads(Path(os.environ["TEXTS"]).read_text("utf-8")):
    st.markdown(text)
    st.radio(text, [text], key=text)
st.text("All of them.")
