"""The page about all encodings, as a visitor's session runs it, and its small pictures."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

import posembed_core as pc
from pages._ui.combine.settings import read_link
from pages._ui.compare import facts, groups
from pages._ui.figures.compare import ACROSS, Place, Small, pictures_figure, shades
from pages._ui.numbers import written
from pages._ui.theme import DIVERGING
from posembed_core.base import Encoding
from tests.visits import arrived

VIEWS = ["picture", "similarity", "norms"]
UI = Path(__file__).parents[3] / "pages" / "_ui"


class Cells(HTMLParser):
    """The texts of a table's cells, row by row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._is_in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._is_in_cell = tag in {"td", "th"}
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag: str) -> None:
        self._is_in_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_in_cell:
            self.rows[-1].append(data)


def rows(app: AppTest) -> dict[str, dict[str, str]]:
    """The rows of the table of facts by their titles."""
    (html,) = (element.proto.body for element in app.get("html") if "<table" in element.proto.body)
    heads, *body = Cells(html).rows
    return {row[0]: dict(zip(heads, row, strict=True)) for row in body}


def figure(slugs: tuple[str, ...], view: str, length: int = 16) -> go.Figure:
    return facts.figure_of(slugs, view, length, 16, 1, ())[0]


@pytest.mark.parametrize("view", VIEWS)
def test_all_encodings_are_compared(view: str) -> None:
    every = "_".join(pc.encodings())
    app = arrived("compare", {"view": view, "length": "16", "dimension": "16", "encodings": every})
    facts = rows(app)
    assert len(facts) == len(pc.encodings())
    for cls in pc.encodings().values():
        row = facts[cls.title.partition(" (")[0]]
        assert (row["door"], row["year"], row["reference"]) == (
            cls.door,
            str(cls.year),
            cls.reference,
        )
        # A bias has no norm, and it leaves the vectors as they are.
        assert (row["‖h − e‖"] == "—") == cls.acts_inside
    assert facts["Learned"]["numbers learned"] == "256"
    assert facts["Learned"]["beyond training?"].startswith("no: the table has 16 rows")
    assert not app.warning


def test_some_encodings_are_compared() -> None:
    app = arrived("compare", {"encodings": "rope_none", "dimension": "7"})
    assert list(rows(app)) == ["None", "RoPE"]
    assert "dimension=7" in app.warning[0].value


def test_groups_follow_from_the_family() -> None:
    known = pc.encodings()
    grouped = groups.groups()
    assert sorted(itertools.chain(*grouped.values())) == sorted(known)
    for heading, slugs in grouped.items():
        (door,) = {known[slug].door for slug in slugs}
        rotary = {issubclass(known[slug], pc.RotaryEncoding) for slug in slugs}
        assert len(rotary) == 1, heading
        digit = {"input": "1", "scores": "2", "projections": "3"}.get(door)
        assert digit is None or heading.startswith(f"Door {digit}")
    assert [next(iter(known[slug].door for slug in slugs)) for slugs in grouped.values()] == [
        "none", "input", "scores", "projections", "projections",
    ]  # fmt: skip
    menu = [pills.label for pills in arrived("compare").get("button_group")]
    assert [heading for heading in grouped if heading not in menu] == []


def test_an_encoding_of_a_new_family_has_a_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pc.encodings()["alibi"], "door", "roof")
    assert list(groups.groups().items())[-1] == ("Another door: roof", ("alibi",))


@pytest.mark.parametrize("folder", ["compare", "figures"])
def test_no_slug_is_named(folder: str) -> None:
    quoted = re.compile("|".join(f'"{slug}"' for slug in pc.encodings() if slug != "none"))
    texts = {file.name: file.read_text("utf-8") for file in (UI / folder).glob("*.py")}
    assert {name: quoted.findall(text) for name, text in texts.items()} == {
        name: [] for name in texts
    }


def test_by_default_there_is_one_of_each_kind_and_no_two_pictures_are_alike() -> None:
    chosen = groups.one_of_each()
    for heading, slugs in groups.groups().items():
        assert set(slugs) & set(chosen), heading
    for view in ("picture", "similarity"):
        seen = [trace.z.tobytes() for trace in figure(chosen, view, 64).data]
        assert len(set(seen)) == len(seen), view


def test_rotations_are_shown_beyond_what_was_trained() -> None:
    for slug in groups.one_of_each():
        encoding = groups.sized(slug, 32, 16)
        trained = getattr(encoding, "original_max_position_embeddings", 64)
        if isinstance(encoding, pc.RotaryEncoding):
            assert trained < groups.length_of(encoding, 32) == 256
        else:
            assert groups.length_of(encoding, 32) == 32
    (heading,) = {groups.group_of(slug) for slug in ("rope", "rope-yarn")}
    assert heading == "Door 3, turned: 256 positions, 64 trained"


@pytest.mark.parametrize("view", VIEWS)
def test_every_encoding_has_a_small_picture(view: str) -> None:
    slugs = tuple(itertools.chain(*groups.groups().values()))
    packed = facts.packed(slugs, view, 16, 16, 1)
    curves = sum(2 if cls.acts_inside else 3 for cls in pc.encodings().values())
    assert len(packed.traces) == (curves if view == "norms" else len(slugs))


def test_sizes_reach_every_encoding() -> None:
    assert groups.sized("alibi", 16, 32).num_heads == 8
    assert groups.sized("rope", 16, 32).head_dim == 32
    assert groups.sized("learned", 16, 32).max_seq_len == 16


@pytest.mark.parametrize("slug", pc.encodings())
def test_a_link_opens_this_very_encoding(slug: str) -> None:
    encoding: Encoding = groups.sized(slug, 32, 16)
    setting, scale = read_link(groups.combine_link(slug, 32, 16, 3))
    assert setting.encoding == encoding
    assert setting.length == groups.length_of(encoding, 32)
    assert (setting.dimension, scale) == (16, 1.0)
    if hasattr(encoding, "num_heads"):
        assert setting.head == 3
    (note,) = (note.text for note in figure((slug,), "picture").layout.annotations
               if "href" in note.text)  # fmt: skip
    assert dict(parse_qsl(note.partition('href="./?')[2].partition('"')[0])) == (
        groups.combine_link(slug, 16, 16, 1)
    )


def small(cells: list[list[float]]) -> Small:
    return Small(Place("a", "group"), np.array(cells), "key", "query")


def test_each_bar_reaches_from_the_least_to_the_greatest_cell() -> None:
    for view in ("picture", "similarity"):
        drawn = figure(tuple(pc.encodings()), view)
        for trace in drawn.data:
            axis = drawn.layout[trace.coloraxis]
            low, high = float(trace.z.min()), float(trace.z.max())
            if low == high:
                assert axis.colorbar.ticktext == (written(low, ".3g"),)
            else:
                assert (axis.cmin, axis.cmax) == (low, high), trace.name
                assert axis.colorbar.ticktext == (written(low, ".3g"), written(high, ".3g"))
                assert tuple(axis.colorbar.tickvals) == (low, high)


def test_zero_has_its_colour_and_equal_magnitudes_look_alike() -> None:
    colours = shades(-1.0, 3.0)["colorscale"]
    at = {round(place, 6): colour for place, colour in colours}
    assert at[0.25] == dict(DIVERGING)[0.5]
    assert at[0.0] == shades(-1.0, 1.0 / 3)["colorscale"][0][1] or at[0.0] != at[1.0]
    assert shades(-3.0, 3.0)["colorscale"][-1][1] == at[1.0]


def test_what_all_cells_share_is_taken_away_and_said() -> None:
    drawn, narrow = pictures_figure([small([[9.0, 10.0], [10.0, 11.0]])], "score")
    assert drawn.data[0].z.tolist() == [[-1.0, 0.0], [0.0, 1.0]]
    assert "less its mean 10" in drawn.data[0].hovertemplate
    for notes in (drawn.layout.annotations, narrow["annotations"]):
        assert "less its mean 10" in notes[0]["text"]
    for cells in ([[0.0, 10.0]], [[-1.0, 10.0]], [[4.0, 4.0]]):
        assert small(cells).offset == 0.0


@pytest.mark.parametrize("is_narrow", [False, True])
def test_pictures_and_their_words_keep_apart(is_narrow: bool) -> None:
    places = [Place(f"{n}", "first" if n < 3 else "second", "./?a=b") for n in range(9)]
    pictures = [Small(place, np.eye(4), "key", "query") for place in places]
    drawn, narrow = pictures_figure(pictures, "score")
    layout = narrow if is_narrow else drawn.layout.to_plotly_json()
    numbers = ["", *map(str, range(2, 10))]
    boxes = [
        (*layout[f"xaxis{number}"]["domain"], *layout[f"yaxis{number}"]["domain"])
        for number in numbers
    ]
    assert all(0 <= edge <= 1 for box in boxes for edge in box)
    for a, b in itertools.combinations(boxes, 2):
        assert a[1] < b[0] or b[1] < a[0] or a[3] < b[2] or b[3] < a[2]
    assert len({box[0] for box in boxes}) == (1 if is_narrow else ACROSS)
    assert [note["text"] for note in layout["annotations"]].count("second") == 1
