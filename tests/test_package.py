"""The core as a distribution: a wheel of it alone, and what works with only that installed."""

import json
import os
import re
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement

import posembed_core as pc
from posembed_core.tokens.sentence_model import FILES
from tests.test_project import ROOT, tracked_files

CORE = "posembed_core"
SOURCES = ("pyproject.toml", "README.md", "LICENSE")
# Recipes and blocks are programs whose text is copied into scripts: nobody imports them.
VISIT = """
import importlib, json, pkgutil, sys
from pathlib import Path

import posembed_core as pc

for module in pkgutil.walk_packages(pc.__path__, "posembed_core."):
    if ".recipes." not in module.name and ".blocks." not in module.name:
        importlib.import_module(module.name)

from posembed_core.scripts.writer import has_recipe
from posembed_core.tokens.sentence_model import load_model

learned = pc.create("learned", max_seq_len=128, embed_dim=64, seed=42)
norms = pc.combine(pc.random_tokens(10, 64), learned).norms().combined[[0, 5, 9]]
slugs = [slug for slug in pc.encodings() if not has_recipe("recipes/" + slug.replace("-", "_"))]
refused = ""
try:
    load_model(Path(sys.argv[1]))
except pc.CheckpointError as error:
    refused = str(error)
answers = {
    "file": pc.__file__,
    "modules": list(sys.modules),
    "norms": [round(float(norm), 3) for norm in norms],
    "without a recipe": slugs,
    "refused": refused,
}
print(json.dumps(answers))
"""


def run(*command: str | Path, cwd: Path, succeeds: bool = True) -> str:
    """What a program prints, without any variable that would show it this repository."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=known, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    return done.stdout + done.stderr


def declared(requirements: list[str], extra: str = "") -> dict[str, Distribution]:
    """The installed packages that these requirements bring with them, directly or indirectly."""
    packages: dict[str, Distribution] = {}
    for line in requirements:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            package = distribution(requirement.name)
            assert requirement.specifier.contains(package.version.split("+")[0]), line
            packages |= {requirement.name: package} | declared(package.requires or [])
    return packages


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tracked files, without a network."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for path in tracked_files():
        name = path.relative_to(ROOT)
        if name.parts[0] == CORE or name.as_posix() in SOURCES:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation"]
    run(*pip, "--wheel-dir", out, ".", cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the wheel and the requirements it declares, without extras: no more."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, symlinks=True)
    (site,) = home.glob("lib/python*/site-packages")
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    (metadata,) = site.glob("*.dist-info")
    for package in declared(Distribution.at(metadata).requires or []).values():
        for top in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            (site / top).symlink_to(Path(str(package.locate_file(top))).resolve())
    return home / "bin" / "python"


def test_the_wheel_holds_the_core_and_nothing_else(wheel: Path) -> None:
    tracked = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
    core = {name for name in tracked if name.startswith(f"{CORE}/")}
    assert f"{CORE}/py.typed" in core
    assert f"{CORE}/scripts/recipes/sinusoidal.py" in core
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == core


@pytest.fixture(scope="module")
def answers(python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The output of the installed core, all in one process since torch is slow to import."""
    model = tmp_path_factory.mktemp("model")
    for name in FILES:
        (model / name).write_text("{}")
    return json.loads(run(python, "-c", VISIT, model, cwd=model))


def test_every_module_is_imported_where_only_the_declared_packages_are(
    python: Path, answers: dict[str, Any]
) -> None:
    assert Path(answers["file"]).is_relative_to(python.parents[1])
    assert f"{CORE}.tokens.sentence_model" in answers["modules"]
    assert not {"tokenizers", "streamlit", "plotly"} & {
        name.split(".")[0] for name in answers["modules"]
    }


def test_an_installed_core_computes_and_writes_scripts(answers: dict[str, Any]) -> None:
    assert answers["norms"] == [4.554, 3.958, 4.333]
    assert answers["without a recipe"] == []


def test_without_tokenizers_a_model_says_which_extra_it_needs(answers: dict[str, Any]) -> None:
    assert "posembed-core[sentences]" in answers["refused"]


def test_type_checkers_read_the_installed_types(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(f"import {CORE} as pc\n\nreveal_type(pc.create('rope', head_dim=64))\n")
    # torch's own types don't matter here, and reading them would take most of the time.
    settings = "[mypy]\nstrict = True\n[mypy-torch.*,numpy.*]\nfollow_imports = skip\n"
    (tmp_path / "mypy.ini").write_text(settings)
    mypy = [sys.executable, "-m", "mypy", "--python-executable", python, "--config-file"]
    output = run(*mypy, "mypy.ini", "--cache-dir", "cache", script, cwd=tmp_path)
    assert f'Revealed type is "{CORE}.encoding.Encoding"' in output


def test_the_version_stands_in_one_place(wheel: Path) -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    heading = re.search(
        r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert heading is not None
    assert wheel.name.split("-")[1] == pc.__version__ == cited["version"] == heading[1]


def test_the_extra_is_what_a_sentence_needs(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        lines = archive.read(name).decode().splitlines()
    wanted = [line.removeprefix("Requires-Dist: ") for line in lines if "Requires-Dist" in line]
    needed, extra = declared(wanted), declared(wanted, "sentences")
    assert {"jaxtyping", "numpy", "safetensors", "torch"} <= needed.keys()
    assert "tokenizers" in extra.keys() - needed.keys()
