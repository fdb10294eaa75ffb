"""Token and position, combined."""

import streamlit as st

st.write("h = e + s · p")
