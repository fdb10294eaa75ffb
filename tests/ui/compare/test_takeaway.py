"""The comparison's "Code" and "Take away": every array reads back as what the page shows."""

from __future__ import annotations

import csv
import io
import zipfile

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from pages._ui.compare.facts import cells_of, facts, norms
from pages._ui.compare.groups import length_of, sized
from pages._ui.compare.settings import Chosen
from pages._ui.compare.takeaway import comparison_shown
from pages._ui.takeaway.files import archive
from posembed_core import encodings
from posembed_core.scripts.compare import CompareView, compare_script
from tests.visits import opened

SLUGS = ("sinusoidal", "rope", "alibi", "shaw")


def unpacked(view: CompareView) -> dict[str, bytes]:
    """The files of the archive of some encodings, by their names."""
    data = list(archive(comparison_shown(Chosen(SLUGS, view, 16, 32, 1)).view()))[-1]
    assert isinstance(data, bytes)
    with zipfile.ZipFile(io.BytesIO(data)) as archived:
        return {name.partition("/")[2]: archived.read(name) for name in archived.namelist()}


def test_the_code_is_that_of_the_setting() -> None:
    app = opened(
        "compare", "compare.code", view="similarity", length="16", head="3", encodings="alibi_t5"
    )
    expected = compare_script(sized("t5", 16, 64), "similarity", 16, 64, head=2, at=[0, 5, 9])
    assert expected.strip() in [code.value.strip() for code in app.code]
    menu = next(box for box in app.selectbox if box.label == "What")
    assert menu.options[:2] == ["T5 relative bias", "ALiBi"]
    assert {"Source of combine", "Source of beyond", "Source of Alibi"} <= set(menu.options)
    menu.set_value("ALiBi").run()
    assert any("slope" in code.value for code in app.code)


@pytest.mark.parametrize("view", ["picture", "similarity", "norms"])
def test_the_archive_holds_what_is_shown(view: CompareView) -> None:
    files = unpacked(view)
    name = f"posembed-compare-{view}-16x32"
    assert list(files) == [
        "README.md", f"{name}.html", *(f"{name}-{slug}.py" for slug in SLUGS), "facts.csv",
        *(f"{slug}.npy" for slug in SLUGS), "facts.npy",
    ]  # fmt: skip
    for slug in SLUGS:
        encoding = sized(slug, 16, 32)
        length = length_of(encoding, 16)
        array = np.load(io.BytesIO(files[f"{slug}.npy"]))
        if view == "norms":
            assert np.array_equal(array[:, 2], norms(encoding, length, 32).combined)
        else:
            assert np.array_equal(array, cells_of(encoding, view, length, 1))
    assert b"var(--st" not in files[f"{name}.html"].replace(get_plotlyjs().encode(), b"")
    rows = list(csv.DictReader(files["facts.csv"].decode().splitlines()))
    assert rows == [facts(slug, 16, 32) for slug in SLUGS]
    numbers = np.load(io.BytesIO(files["facts.npy"]))
    assert numbers[:, 0].tolist() == [encodings()[slug].year for slug in SLUGS]
    assert [f"{number:.3f}" for number in numbers[:, 3]] == [row["‖h‖"] for row in rows]


def test_what_can_be_taken_away_is_listed() -> None:
    app = opened("compare", "compare.take", encodings="alibi_t5", view="norms")
    menu = next(box for box in app.selectbox if box.label == "Array")
    assert menu.options == ["t5, 64 × 3", "alibi, 64 × 3", "facts, 2 × 4"]
    labels = [button.label for button in app.get("download_button")]
    assert any(label.startswith("HTML") for label in labels)
    assert "The table of facts (csv)" in labels
