"""The script behind every page: what all pages share, and the menu on top."""

from pathlib import Path

import streamlit as st

# A page's file, title and path; the first one is the landing page.
PAGES = (
    ("combine.py", "Combine", "combine"),
    ("table.py", "Table", "table"),
    ("attention.py", "Attention", "attention"),
    ("long_context.py", "Long context", "long-context"),
)

# A wordmark as an image, in a blue that can be read on white and on black.
WORDMARK = """
<svg xmlns="http://www.w3.org/2000/svg" width="112" height="24" role="img">
  <text y="18" fill="#2f80c8" font-family="sans-serif" font-size="20" font-weight="700"
        textLength="110">Posembed</text>
</svg>
"""

st.set_page_config(
    page_title="Posembed",
    layout="wide",
    menu_items={"About": "**Posembed** shows how a Transformer learns where a word is."},
)
st.logo(WORDMARK)
folder = Path(__file__).parent
st.navigation(
    [
        st.Page(folder / file, title=title, url_path=path, default=file == PAGES[0][0])
        for file, title, path in PAGES
        if (folder / file).exists()
    ],
    position="top",
).run()
