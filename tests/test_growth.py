"""Every regular expression takes time in proportion to a text, whatever a stranger writes.

Those that a module compiles are found by importing it, with their flags; those written out in a
call inside a function are found in its source, and read without flags. Texts are made of each
expression's own signs: what it can begin with, and then one or two signs over and over. A quadratic
expression takes 256 times as long for 16 times as much, a linear one 16 times: what is compared is
the growth, so a slow machine changes nothing.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import re
import string
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import pages._ui
import posembed_core

SHORT, LONG = 250, 4_000
MOST_GROWTH = 5 * LONG / SHORT  # of a linear one by chance
UNNOTICED = 0.004  # seconds: a linear one takes less than one thousandth
CALLS = {"compile", "sub", "subn", "search", "match", "fullmatch", "findall", "finditer", "split"}
ENDS = ("", " ", "!", "#")  # at which an expression that came this far may fail
SPARED = ("posembed_core.scripts.recipes", "posembed_core.scripts.blocks")  # texts to be shown


def modules() -> Iterator[ModuleType]:
    for package in (posembed_core, pages._ui):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.startswith(SPARED):
                yield importlib.import_module(info.name)


def calls(source: str) -> Iterator[ast.expr]:
    """The pattern of each use of `re` in a source."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=name)) if name in CALLS:
                yield node.args[0]


def expressions() -> dict[str, re.Pattern[str]]:
    """All regular expressions by what they say; those of calls where they are written out."""
    compiled: dict[str, re.Pattern[str]] = {}
    for module in modules():
        for value in vars(module).values():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                compiled[value.pattern] = value
        source = Path(str(module.__file__)).read_text("utf-8")
        for node in calls(source):
            if isinstance(node, ast.Constant):
                compiled.setdefault(node.value, re.compile(node.value))
    return compiled


def texts(pattern: str, count: int) -> Iterator[str]:
    """Texts of about ``count`` signs that an expression made of these signs may stumble over."""
    signs = sorted({*string.punctuation, *" \n\ta0A:é"} & {*pattern, *" \na0"} | {*'"\\[(`'})
    words = {"", *re.findall(r"[a-z_]+", pattern.lower()), *re.findall(r"[a-z_]+\\?\W", pattern)}
    begins = sorted({word.replace("\\", "") for word in words})[:12]
    for begin, sign, end in itertools.product(begins, signs, ENDS):
        yield begin + sign * count + end
        yield (begin + sign) * (count // (len(begin) + 1)) + end
    for first, second in itertools.permutations(signs, 2):
        yield (first + second) * (count // 2) + "!"
        yield first + second * count + "!"


def seconds(pattern: re.Pattern[str], text: str) -> float:
    start = time.process_time()
    for _ in pattern.finditer(text):
        pass
    return time.process_time() - start


def grows_faster(pattern: re.Pattern[str]) -> bool:
    """Whether some text 16 times as long takes far more than 16 times as long."""
    pairs = zip(texts(pattern.pattern, SHORT), texts(pattern.pattern, LONG), strict=True)
    return any(
        seconds(pattern, long) > UNNOTICED
        and min(seconds(pattern, long) for _ in range(2))
        > MOST_GROWTH * min(seconds(pattern, short) for _ in range(5))
        for short, long in pairs
    )


EXPRESSIONS = expressions()


@pytest.mark.parametrize("pattern", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_regular_expression_grows_in_proportion(pattern: re.Pattern[str]) -> None:
    assert not grows_faster(pattern)


QUADRATIC = [
    r"\S+$", r"[^\s]+$", r"url\(\s*[\"']?(?!\s*[\"']?(?:#|data:image/))",
    r'"(?:[^"\\]|\\.)*"', r"\d+[.)]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", QUADRATIC)
def test_the_check_itself_notices_a_quadratic_one(pattern: str) -> None:
    assert grows_faster(re.compile(pattern, re.DOTALL))
