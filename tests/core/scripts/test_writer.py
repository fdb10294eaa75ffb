"""Recipe files become scripts: named sections, and only the branches that are chosen."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import posembed_core as pc
from posembed_core.scripts import writer
from posembed_core.scripts.tables import FormulaTable, measures_script
from posembed_core.scripts.writer import decide


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("a", ["x = 1  # one"]), ("b", ["x = 2", "y = 3"]), ("c", ["x = 4"])],
)
def test_only_the_chosen_branch_stays(kind: str, kept: list[str]) -> None:
    body = (
        "if kind == 'a':\n    x = 1  # one\nelif kind == 'b':\n    x = 2\n    y = 3\n"
        "else:\n    # not either\n    x = 4\nif x > 0:\n    z = 5"
    )
    decided = decide(body, {"kind": kind}).split("\n")
    assert [line for line in decided if not line.startswith("#")][:-2] == kept
    assert decided[-2:] == ["if x > 0:", "    z = 5"]


def test_a_test_inside_a_function_is_decided_too() -> None:
    body = "def f(x):\n    if fast:\n        return x\n    return 2 * x"
    whole: Callable[[bool], str] = lambda fast: decide(body, {"fast": fast})  # noqa: E731
    assert whole(True) == "def f(x):\n    return x\n    return 2 * x"
    assert whole(False) == "def f(x):\n    return 2 * x"


def test_a_misspelt_section_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"blocks/measures has no section 'wawes': .*'waves'"):
        measures_script(FormulaTable(pc.create("none"), 4), "wawes")
    with pytest.raises(LookupError, match="no recipe may have a section 'scorse'"):
        writer.has_section("recipes/xpos", "scorse")


def test_a_misspelt_section_of_a_recipe_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes/xpos.py").write_text("# ---\nx = 1\n# --- scorse\ny = 2\n")
    monkeypatch.setattr(writer, "_FOLDER", tmp_path)
    with pytest.raises(LookupError, match="recipes/xpos has a section 'scorse' that no script"):
        writer.write("Text.", [writer.Part("recipes/xpos", ("", "scores"))], {})


def test_every_section_of_a_block_is_asked_for() -> None:
    folder = Path(writer.__file__).parent
    trees = [ast.parse(file.read_text()) for file in folder.glob("*.py")]
    literals = {
        node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)
    }
    views = ("picture", "similarity")
    families = ("additive", "rotary", "bias", "relative")
    literals |= {f"{family} {view}" for family in families for view in views}
    for file in folder.glob("blocks/*.py"):
        sections = {
            line[5:].strip() for line in file.read_text().split("\n") if line[:5] == "# ---"
        }
        # A measure's section has the name that the measure has on the page.
        if file.stem != "measures":
            assert sections <= literals, file.name
