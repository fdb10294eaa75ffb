"""The words in the code: articles that fit their nouns, nothing about servers in the core."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "docs", "pages", "posembed_core", "tests")
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


# They say nothing of what they hold: name the thing.
EMPTY = {"one", "found", "where", "said", "there", "made"}


def empty_names(text: str) -> Iterator[str]:
    """Locals and parameters with names that say nothing."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield from {node.id} & EMPTY
        elif isinstance(node, ast.arg):
            yield from {node.arg} & EMPTY


def test_locals_say_what_they_are() -> None:
    assert list(empty_names("one = 1\ndef f(where): return [said for said in where]"))
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    texts = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    named = {name: sorted(empty_names(text)) for name, text in texts.items()}
    assert {name: names for name, names in named.items() if names} == {}


@pytest.mark.parametrize("file", CORE, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_core_knows_no_server(file: Path) -> None:
    words = re.findall(r"(?i)\b(?:server|visitor|reload|streamlit)\w*", file.read_text("utf-8"))
    assert not words
