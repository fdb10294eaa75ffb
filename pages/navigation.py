"""The script behind every page: what all pages share, and the menu on top."""

import streamlit as st

from pages._ui.lessons import open_shell
from pages._ui.server import reconnect
from pages._ui.site import FOLDER, PAGES, heading

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
pages = {
    page.path: st.Page(
        FOLDER / page.file, title=page.title, url_path=page.path, default=page is PAGES[0]
    )
    for page in PAGES
    if (FOLDER / page.file).exists()
}
shell = open_shell(pages)
bare = shell.presents or st.context.is_embedded
shown = st.navigation(list(pages.values()), position="hidden" if bare else "top")
here = next(page for page in PAGES if page.title == shown.title)
st.set_page_config(page_title=f"{here.title} · Posembed")
st.html(heading(here))
shell.around(shown)
reconnect.follow_the_server()  # unseen, so last: above the page it would leave a gap
