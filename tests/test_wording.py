"""The words in the code: articles that fit their nouns, nothing about servers in the core."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = sorted((ROOT / "posembed_core").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))


def articles_before_names(text: str) -> Iterator[str]:
    """Where an f-string puts "a" or "an" before a value whose first sound it can't know."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, value in pairwise(node.values):
            text = before.value if isinstance(before, ast.Constant) else ""
            # A format says that the value is a number.
            named = isinstance(value, ast.FormattedValue) and value.format_spec is None
            if named and re.search(r"\ban? ['\"]?$", str(text)):
                yield ast.unparse(node)


def test_an_article_is_chosen_with_its_noun() -> None:
    assert list(articles_before_names('f"must be a {kind}, got {value!r}"'))
    assert not list(articles_before_names('f"must be {kind}, a {width:,} × {height:,} picture"'))
    texts = {file.name: file.read_text("utf-8") for file in CORE + PAGES}
    assert {name: list(articles_before_names(text)) for name, text in texts.items()} == {
        name: [] for name in texts
    }


@pytest.mark.parametrize("file", CORE, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_core_knows_no_server(file: Path) -> None:
    words = re.findall(r"(?i)\b(?:server|visitor|reload|streamlit)\w*", file.read_text("utf-8"))
    assert not words
