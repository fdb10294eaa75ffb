"""The picture of the shuffle, read as data."""

from __future__ import annotations

import itertools

import pytest

from pages._ui.figures.shuffle import Shuffled, columns_figure

WORDS = ("[CLS]", "the", "keys", "an-extraordinary-word", "<b>", "[SEP]")
ORDER = (0, 3, 1, 4, 2, 5)
LOOK = Shuffled(("None", "RoPE"), WORDS, ORDER, 32)


@pytest.mark.parametrize("narrow", [False, True])
def test_an_arrow_leads_from_each_word_to_the_same_word(narrow: bool) -> None:
    figure, phone = columns_figure(LOOK)
    notes = phone["annotations"] if narrow else figure.layout.to_plotly_json()["annotations"]
    arrows = [note for note in notes if note["showarrow"]]
    chips = [note for note in notes if not note["showarrow"] and note["xref"] == "x"]
    rows = {height: {} for height in sorted({chip["y"] for chip in chips})}
    for chip in chips:
        rows[chip["y"]][chip["x"]] = chip["text"]
    below, above = rows.values()
    assert list(above.values()) == ["[CLS]", "the", "keys", "an-extraord…", "&lt;b&gt;", "[SEP]"]
    assert {arrow["x"]: arrow["ax"] for arrow in arrows} == dict(enumerate(ORDER))
    for arrow in arrows:
        assert above[arrow["ax"]] == below[arrow["x"]]
        assert max(rows) > arrow["ay"] > arrow["y"] > min(rows)


@pytest.mark.parametrize("count", [1, 2, 11, 26, 27, 128])
def test_columns_stand_under_their_chips_and_nothing_overlaps(count: int) -> None:
    words = tuple(f"w{index}" for index in range(count))
    figure, phone = columns_figure(Shuffled(("A", "B"), words, tuple(range(count)), 32))
    for layout in (figure.layout.to_plotly_json(), phone):
        axes = [layout["xaxis"], *(layout[f"xaxis{n}"] for n in (2, 3, 4, 5))]
        assert {(tuple(axis["domain"]), tuple(axis["range"])) for axis in axes} == {
            ((0.0, axes[0]["domain"][1]), (-0.5, count - 0.5))
        }
        domains = [layout[f"yaxis{n}"]["domain"] for n in ("", 2, 3, 4, 5)]
        assert all(0 <= low < high <= 1 for low, high in domains)
        # From above to below.
        assert all(now[1] < before[0] for before, now in itertools.pairwise(domains))
