"""The examples in docstrings and in the README do what they say."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import posembed_core as pc
from posembed_core import registry

ROOT = Path(__file__).parents[2]
# Programs whose text is copied into scripts; never imported.
PROGRAMS = (".recipes.", ".blocks.")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(pc.__path__, "posembed_core.")
    if not any(part in module.name for part in PROGRAMS)
)


def public(module: str, *kinds: type[ast.AST]) -> dict[str, Any]:
    """``{name: function or class}`` of what a module defines itself, without an underscore."""
    home = importlib.import_module(module)
    names = [
        node.name for node in ast.parse(inspect.getsource(home)).body if isinstance(node, kinds)
    ]
    return {name: getattr(home, name) for name in names if not name.startswith("_")}


def examples(name: str, thing: Callable[..., Any]) -> list[doctest.DocTest]:
    """The examples of a function, or of a class and its methods.

    ``module=False``: functions wrapped by the hook that checks shapes seem to be from elsewhere.
    """
    variables = vars(importlib.import_module(thing.__module__)).copy()
    tests = doctest.DocTestFinder().find(thing, name, module=False, globs=variables)
    return [test for test in tests if test.examples]


def failures(test: doctest.DocTest) -> str:
    """What doctest reports of examples that don't give what they show; empty if all do."""
    lines: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=lines.append)
    return "".join(lines)


@pytest.mark.parametrize("module", MODULES)
def test_examples_give_what_they_say(module: str) -> None:
    for name, thing in public(module, ast.FunctionDef, ast.ClassDef).items():
        for test in examples(name, thing):
            assert failures(test) == ""


def test_a_wrong_example_is_noticed() -> None:
    def wrong() -> None:
        """Three.

        >>> pc.create("rope", head_dim=4).inv_freq().shape[0]
        3
        """

    (test,) = examples("wrong", wrong)
    assert "Expected:\n    3\nGot:\n    2" in failures(test)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_has_an_example(module: str) -> None:
    functions = public(module, ast.FunctionDef)
    assert [name for name, thing in functions.items() if not examples(name, thing)] == []


def test_every_public_name_has_an_example() -> None:
    modules = {name for name in pc.__all__ if inspect.ismodule(getattr(pc, name))}
    names = set(pc.__all__) - modules
    assert {name for name in names if not examples(name, getattr(pc, name))} == set()


def python_blocks(file: str) -> list[str]:
    """The fenced Python of a Markdown file, in order."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def test_the_readmes_first_example_prints_what_its_comments_say() -> None:
    code = python_blocks("README.md")[0]
    printed: list[str] = []
    exec(code, {"print": lambda *values: printed.append(" ".join(map(str, values)))})  # noqa: S102 (our own text)
    comments = [line.partition("  # ")[2] for line in code.splitlines() if "print(" in line]
    assert len(printed) == len(comments) > 3
    told = {line: NUMBER.findall(comment) for line, comment in zip(printed, comments, strict=True)}
    assert any(told.values())
    for line, numbers in told.items():
        shown = [float(number) for number in NUMBER.findall(line)]
        for number, value in zip(numbers, shown, strict=False):
            digits = len(number.partition(".")[2])
            assert round(value, digits) == float(number), line


def test_the_readmes_encoding_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_classes", dict(registry.encodings()))
    exec(python_blocks("README.md")[1], {"__name__": "readme"})  # noqa: S102 (our own text)
    ramp = pc.create("ramp", embed_dim=2, slope=0.5)
    assert ramp.table([0, 3]).tolist() == [[0.0, 0.0], [1.5, 1.5]]
    assert pc.combine(pc.random_tokens(4, 2), ramp).combined.shape == (4, 2)


def test_every_python_block_of_the_readme_is_tried() -> None:
    assert len(python_blocks("README.md")) == 2
