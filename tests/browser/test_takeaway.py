"""What is taken away from the landing page in Chromium: pictures, arrays, the archive, the code."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from posembed_core import combine, create, random_tokens
from tests.on_screen import at_rest, graph

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


def opened(page: Page, url: str, button: str) -> None:
    """Go there, wait for the picture, and open one of the buttons beside the sliders."""
    page.goto(url)
    at_rest(page)
    page.get_by_role("button", name=button, exact=True).click()


def saved(page: Page, button: str | re.Pattern[str], folder: Path) -> Path:
    """Press a button that saves a file, and wait for it."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=isinstance(button, str)).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def svg_root(path: Path) -> ET.Element:
    return ET.parse(path).getroot()  # noqa: S314, Plotly's own file


def colours(image: Image.Image) -> set[tuple[int, ...]]:
    """The picture's colours, coarsely."""
    small = image.convert("RGB").quantize(64).convert("RGB")
    return {colour for _, colour in small.getcolors()}


def has_blue_and_red(colours: set[tuple[int, ...]]) -> bool:
    blue = any(b > r + 60 for r, _, b in colours)
    return blue and any(r > b + 60 for r, _, b in colours)


def test_pictures_hold_the_cells(page: Page, app: str, tmp_path: Path) -> None:
    opened(page, app, "Take away")
    png = saved(page, "PNG", tmp_path)
    assert png.name == "posembed-sinusoidal-128x64.png"
    with Image.open(png) as image:
        size = graph(page, "({ _fullLayout }) => [_fullLayout.width, _fullLayout.height]")
        assert image.size == tuple(2 * pixels for pixels in size)
        assert has_blue_and_red(colours(image))
    svg = svg_root(saved(page, "SVG", tmp_path))
    pictures = svg.findall(f".//{SVG}image")
    assert len([element for element in pictures if float(element.get("width", 0)) > 100]) == 3
    assert len(svg.findall(f".//{SVG}path[@class='js-line']")) == 3
    assert "var(--" not in ET.tostring(svg, "unicode")


def test_the_html_file_works_without_a_network(
    page: Page, app: str, browser: Browser, tmp_path: Path
) -> None:
    opened(page, f"{app}/?encoding=rope&length=20&scale=2.0", "Take away")
    file = saved(page, re.compile("^HTML"), tmp_path)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    alone, wrong = context.new_page(), []
    alone.on("console", lambda m: wrong.append(m.text) if m.type in {"error", "warning"} else None)
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url),
    )
    alone.goto(file.as_uri())
    expect(alone.locator("#picture .heatmaplayer image")).to_have_count(3)
    cells = alone.evaluate("Array.from(document.getElementById('picture')._fullData[2].z[5])")
    core = combine(random_tokens(20, 64), create("rope"), scale=2.0)
    assert np.array_equal(np.float32(cells), core.combined[:, 5].numpy())
    expect(alone.get_by_role("link")).to_contain_text("encoding=rope")
    svg = saved(alone, "SVG", tmp_path)
    assert len(svg_root(svg).findall(f".//{SVG}image")) >= 3
    context.close()
    assert wrong == []


def archived(page: Page, folder: Path) -> dict[str, bytes]:
    """The files of the archive, by their names in its folder."""
    page.get_by_role("button", name=re.compile("^Make zip")).click()
    with zipfile.ZipFile(saved(page, re.compile("^Download zip"), folder)) as archive:
        return {Path(name).name: archive.read(name) for name in archive.namelist()}


def test_the_archive_holds_the_cores_arrays(page: Page, app: str, tmp_path: Path) -> None:
    opened(page, f"{app}/?encoding=learned&length=10", "Take away")
    files = archived(page, tmp_path)
    arrays = {
        name: np.load(io.BytesIO(files[f"{name}.npy"]))
        for name in ("token", "position", "combined", "norms")
    }
    readme = files["README.md"].decode()
    script = tmp_path / "script.py"
    script.write_bytes(files["posembed-learned-10x64.py"])
    with Image.open(io.BytesIO(files["posembed-learned-10x64.png"])) as image:
        assert has_blue_and_red(colours(image))
    svg = ET.fromstring(files["posembed-learned-10x64.svg"])  # noqa: S314, Plotly's own
    assert len(svg.findall(f".//{SVG}path[@class='js-line']")) == 3
    for kind in ("png", "svg"):
        assert f"`posembed-learned-10x64.{kind}`: the picture as it was on the screen" in readme
    core = combine(random_tokens(10, 64), create("learned", max_seq_len=10))
    for name in ("token", "position", "combined"):
        assert np.array_equal(arrays[name], getattr(core, name).numpy()), name
    assert arrays["norms"][[0, 5, 9]].round(3).tolist() == [
        [4.709, 0.910, 4.554], [3.886, 0.881, 3.958], [4.019, 1.000, 4.333],
    ]  # fmt: skip
    assert f"{app}/?encoding=learned&length=10" in readme
    printed = subprocess.run(
        [sys.executable, "-I", str(script)], capture_output=True, text=True, check=True
    ).stdout
    assert "norm 4.554" in printed


def test_a_large_file_is_made_with_a_progress_bar(page: Page, app: str, tmp_path: Path) -> None:
    opened(page, f"{app}/?length=8192&dimension=4096", "Take away")
    page.get_by_role("combobox", name="Array").click()
    page.get_by_role("option", name="combined").click()
    expect(page.get_by_text("files go up to 64 MB: choose a smaller size")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Download npy"))).to_have_count(0)
    opened(page, f"{app}/?length=4096&dimension=1024", "Take away")
    page.get_by_role("combobox", name="Array").click()
    page.get_by_role("option", name="token").click()
    page.get_by_role("button", name=re.compile("^Make npy")).click()
    file = saved(page, re.compile("^Download npy, 17 MB"), tmp_path)
    assert np.array_equal(np.load(file), random_tokens(4096, 1024).numpy())


def test_the_code_follows_the_setting(page: Page, app: str) -> None:
    opened(page, f"{app}/?encoding=alibi&scale=0.5", "Code")
    code = page.locator("[data-testid=stPopoverBody] [data-testid=stCode]")
    expect(code).to_contain_text("slope = 2 ** (-alibi_bias_max")
    expect(code).to_contain_text("s = 0.5")
    page.get_by_role("combobox", name="What").click()
    page.get_by_role("option", name="Source of Alibi").click()
    expect(code).to_contain_text("class Alibi(BiasEncoding)")


def test_every_picture_of_a_page_is_in_its_archive(page: Page, app: str, tmp_path: Path) -> None:
    page.goto(app)
    page.get_by_role("link", name="Long context").click()
    at_rest(page, charts=2)
    page.get_by_role("button", name="Take away", exact=True).click()
    own = saved(page, "SVG of scores", tmp_path)
    files = archived(page, tmp_path)
    name = "posembed-rope-llama3-131072"
    assert own.name == f"{name}-scores.svg"
    for part, label in (("pairs", "wavelength of each pair"), ("scores", "score against distance")):
        with Image.open(io.BytesIO(files[f"{name}-{part}.png"])) as image:
            assert min(image.size) > 500
            assert len(colours(image)) > 4
        drawn = files[f"{name}-{part}.svg"].decode()
        assert label in drawn
        assert "var(--" not in drawn
        assert label.encode() in files[f"{name}-{part}.html"]


def test_a_browser_that_draws_nothing_gets_an_archive_all_the_same(
    page: Page, app: str, tmp_path: Path
) -> None:
    opened(page, f"{app}/?length=4&dimension=4", "Take away")
    page.evaluate("Plotly.toImage = async () => 'no picture'")
    files = archived(page, tmp_path)
    assert {"README.md", "combined.npy"} <= files.keys()
    assert not [name for name in files if name.endswith((".png", ".svg"))]
    assert ".png" not in files["README.md"].decode()


def test_the_comparison_is_code_and_files(page: Page, app: str, tmp_path: Path) -> None:
    page.goto(app)
    page.get_by_role("link", name="Compare").click()
    page.locator(".st-key-compare-picture .live-plot[data-state=rest]").wait_for()
    page.get_by_text("Similarity of positions").click()
    page.locator(".st-key-compare-similarity .live-plot[data-state=rest]").wait_for()
    page.get_by_role("button", name="Code", exact=True).click()
    code = page.locator("[data-testid=stPopoverBody] [data-testid=stCode]")
    expect(code).to_contain_text("norm of")
    page.get_by_role("combobox", name="What").click()
    page.get_by_role("option", name="RoPE, YaRN", exact=True).click()
    expect(code).to_contain_text("beta_fast")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Take away", exact=True).click()
    files = archived(page, tmp_path)
    with Image.open(io.BytesIO(files["posembed-compare-similarity-64x64.png"])) as image:
        assert has_blue_and_red(colours(image))
    bias = np.load(io.BytesIO(files["alibi.npy"]))
    assert np.array_equal(bias, create("alibi").bias(range(64), range(64))[1].numpy())
