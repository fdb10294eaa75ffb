"""A stranger's text on a page: as Markdown, HTML or Plotly's markup that shows it and does nothing.

Links, configs, files and lessons say what they like. Whatever a page makes of their words passes
through one of these functions; a law in ``tests/test_project.py`` finds what doesn't.
"""

from __future__ import annotations

import html
import re

# Parts what Streamlit would join after it has read the Markdown, escaped or not. It has no width.
_JOINER = "\u2060"
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]+")
_SIGNS = re.compile(r"[\\`*\[\]{}<~$|]|&(?=#?\w+;)|_(?!\w)|(?<!\w)_")
# Addresses, e-mail addresses, :names: of icons and directives, and dashes and arrows of two signs.
_JOINED = re.compile(
    r"(?<=:)(?=//|[a-z]|[\w+-]+:)|(?<=www)(?=\.)|(?=@)|(?<=[-<])(?=-)|(?<=-)(?=>)|(?<=[<>~])(?==)",
    re.IGNORECASE,
)
# In a teacher's Markdown: what a link, an image, a footnote or an icon would be made of.
_LINKED = re.compile(
    r"(?<=\])(?=[(\[:])|(?<=<)(?=[a-z!?/])|(?<=:)(?=//|[\w+-]+:)|(?<=www)(?=\.)|(?=@)",
    re.IGNORECASE,
)
# With it a line of Markdown is a heading, a quotation, a list, a rule, a table or a block of code.
_BLOCK = re.compile(r"\A(?:[#>|~+]|[-*]\s|[-*_\s]+$|`{3}|\d+[.)])")
_MARKED = re.compile(rf"\\([!-/:-@\[-`{{-~])|\*\*|{_JOINER}")


def in_markdown(text: object) -> str:
    """Markdown that shows ``text`` as it is, on one line, also in a cell of a table."""
    line = _JOINED.sub(_JOINER, _SPACES.sub(" ", str(text)))
    return _inline(_SIGNS.sub(r"\\\g<0>", line))


def in_code(text: str, in_table: bool = False) -> str:
    """``text`` as code in Markdown, in a table's cell or elsewhere; a grave becomes a like sign."""
    signs = (
        c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in text.replace("`", "ˋ")
    )
    code = "`" + "".join(signs) + "`"
    return code.replace("|", r"\|") if in_table else code


def in_lesson(text: str) -> str:
    """A teacher's Markdown on one line: its emphasis, code, colours and formulas, nothing else.

    No link, image, heading or other block comes of it.
    """
    return _inline(_LINKED.sub(_JOINER, _SPACES.sub(" ", text)).strip())


def in_html(text: str) -> str:
    """HTML that shows ``text`` as it is, in an attribute, too."""
    return html.escape(text)


def in_plotly(text: str) -> str:
    """Plotly's markup that shows ``text`` as it is: a heading, a label, a name.

    Not for a ``hovertemplate``, in which ``%{…}`` is a place for a value.
    """
    return html.escape(_SPACES.sub(" ", text), quote=False)


def unmarked(markdown: str) -> str:
    """The text that Markdown of ours shows, for where there is none: files, alternative texts."""
    return _MARKED.sub(lambda match: match[1] or "", markdown)


def _inline(line: str) -> str:
    return _JOINER + line if _BLOCK.match(line.lstrip()) else line
