"""The comparison's scripts, run in an interpreter without this project, give the page's numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pages._ui.compare.facts import cells_of, norms
from pages._ui.compare.groups import sized
from posembed_core import encodings
from posembed_core.scripts.compare import CompareView, compare_script
from tests.core.scripts.test_recipes import Answer, run_all

LENGTH, DIMENSION, HEAD = 48, 16, 3
AT = (0, 5, 9)
VIEWS: tuple[CompareView, ...] = ("picture", "similarity", "norms")
CASES = [(slug, view) for slug in encodings() for view in VIEWS]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Answer]:
    """What the scripts of all encodings and views print."""
    scripts = [
        compare_script(sized(slug, LENGTH, DIMENSION), view, LENGTH, DIMENSION, head=HEAD, at=AT)
        for slug, view in CASES
    ]
    printed = run_all(scripts, tmp_path_factory.mktemp("compared"))
    return dict(zip(CASES, printed, strict=True))


@pytest.mark.parametrize("slug", encodings())
@pytest.mark.parametrize("view", ["picture", "similarity"])
def test_the_cells_are_those_of_the_page(
    answers: dict[tuple[str, str], Answer], slug: str, view: CompareView
) -> None:
    answer = answers[slug, view]
    expected = cells_of(sized(slug, LENGTH, DIMENSION), view, LENGTH, HEAD)
    np.testing.assert_allclose(answer.arrays["cells"], expected.double(), rtol=3e-6, atol=3e-6)
    printed = [
        [float(number) for number in re.findall(r"-?\d+\.\d+", line.partition(":")[2])]
        for line in answer.text.split("\n")
        if line.startswith("  row ")
    ]
    np.testing.assert_allclose(printed, expected[list(AT), :5], atol=6e-5)
    lowest, highest = map(float, re.findall(r"-?\d+\.\d+", answer.text.split("\n")[0]))
    assert (lowest, highest) == pytest.approx(
        (float(expected.min()), float(expected.max())), abs=6e-5
    )


@pytest.mark.parametrize(("slug", "view"), CASES)
def test_the_norms_are_those_of_the_table(
    answers: dict[tuple[str, str], Answer], slug: str, view: str
) -> None:
    core = norms(sized(slug, LENGTH, DIMENSION), LENGTH, DIMENSION)
    lines = [line for line in answers[slug, view].text.split("\n") if line.startswith("norm of")]
    for line, term in zip(lines, ("token", "position", "combined"), strict=True):
        mean, *some = map(float, re.findall(r"\d+\.\d+", line))
        curve = getattr(core, term)
        assert mean == pytest.approx(float(curve.mean()), abs=6e-4)
        assert some == pytest.approx(curve[list(AT)].tolist(), abs=6e-4)


def test_scripts_name_nothing_of_this_project(tmp_path: Path) -> None:
    script = compare_script(sized("alibi", 16, 16), "norms", 16, 16)
    assert "posembed" not in script
    assert "slope" not in script  # norms need no bias
