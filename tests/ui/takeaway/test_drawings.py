"""Pictures from a browser: real pictures are kept, anything else is left out."""

from __future__ import annotations

import base64
import io
import zipfile

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pages._ui.takeaway import drawings
from pages._ui.takeaway.drawings import Drawing, read_drawings
from pages._ui.takeaway.files import Table, View, archive


def png(width: int = 3) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, 2), "red").save(file, "PNG")
    return file.getvalue()


def sent(data: bytes) -> str:
    return base64.b64encode(data).decode()


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    '<g clip-path="url(#a)" style="fill: url(&quot;#b&quot;)"><text>‖h‖ on screen</text>'
    '<image xlink:href="data:image/png;base64,AAAA"/></g></svg>'
)


def test_a_png_and_an_svg_are_kept() -> None:
    drawings = read_drawings({"pairs": {"png": sent(png()), "svg": SVG}}, ["pairs"])
    assert drawings == (Drawing("pairs", "png", png()), Drawing("pairs", "svg", SVG.encode()))


@pytest.mark.parametrize(
    "bad",
    [
        "", "not base64 at all", sent(b"GIF89a"), sent(png()[:-4]), sent(png() + b"more"), 7, None,
        [sent(png())], "é" * 9,
    ],
)  # fmt: skip
def test_anything_but_a_png_is_left_out(bad: object) -> None:
    assert read_drawings({"": {"png": bad}}, [""]) == ()


@pytest.mark.parametrize(
    "bad",
    [
        "", "hello", "<html/>", "<svg>", "<svg/>", SVG[:-1], SVG.replace("</g>", "<script/></g>"),
        SVG.replace("<g ", "<g onload='x()' "), SVG.replace("data:image/png", "http://elsewhere/"),
        "<!DOCTYPE svg [<!ENTITY a 'aaaa'>]>" + SVG, SVG.replace("url(#a)", "url(//elsewhere)"),
        SVG.replace("on screen", "\ud800"),
        SVG.replace("</g>", "<foreignObject></foreignObject></g>"),
    ],
)  # fmt: skip
def test_anything_but_a_harmless_svg_is_left_out(bad: str) -> None:
    assert read_drawings({"": {"svg": bad}}, [""]) == ()


message = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["", "png", "svg"]), inner),
)


@given(message)
def test_no_message_does_harm(anything: object) -> None:
    assert read_drawings(anything, [""]) == ()


def test_names_that_the_page_does_not_have_are_left_out() -> None:
    assert read_drawings({"../pairs": {"png": sent(png())}}, ["pairs"]) == ()


def test_drawings_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "MAX_DRAWINGS", len(png()) + len(SVG.encode()))
    message = {name: {"png": sent(png()), "svg": SVG} for name in ("first", "second")}
    kept = [(drawing.name, drawing.kind) for drawing in read_drawings(message, ["first", "second"])]
    assert kept == [("first", "png"), ("first", "svg")]


def test_the_archive_holds_the_drawings_and_lists_them() -> None:
    view = View(
        name="posembed",
        title="RoPE",
        about="What is seen.",
        link="http://localhost/",
        settings={},
        tables=[Table("pairs", "some", (2, 2), lambda at: torch.zeros(2, 2)[at])],
        pictures={"pairs": lambda: "<html>1", "scores": lambda: "<html>2"},
        scripts={"rope": lambda: "print(1)\n"},
        drawings=read_drawings(
            {"pairs": {"png": sent(png())}, "scores": {"svg": SVG}}, ["pairs", "scores"]
        ),
    )
    with zipfile.ZipFile(io.BytesIO(list(archive(view))[-1])) as packed:
        files = {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
    readme = files["README.md"].decode()
    assert list(files) == [
        "README.md", "posembed-pairs.html", "posembed-scores.html", "posembed-rope.py",
        "posembed-pairs.png", "posembed-scores.svg", "pairs.npy",
    ]  # fmt: skip
    assert files["posembed-pairs.png"] == png()
    assert files["posembed-scores.svg"].decode() == SVG
    assert files["posembed-scores.html"] == b"<html>2"
    for name in list(files)[1:]:
        assert f"- `{name}`: " in readme
    assert "- `posembed-pairs.png`: the picture of pairs as it was on the screen" in readme
