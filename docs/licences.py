"""Write the dependencies' licences from installed metadata: ``python docs/licences.py``.

``make check`` compares the committed list with what is installed, and refuses in the app itself a
licence that isn't known to fit MIT-licensed software. Tools that only test it may have others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageMetadata, metadata, requires
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs" / "licences.md"
APP = ("requirements.txt", "requirements-model.txt")
FILES = (*APP, "requirements-dev.txt", "constraints.txt")
# What fits: permissive, or copyleft for changes to the package's own files only.
FITTING = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python-2\.0|Python Software|MPL|Mozilla|Unlicense|CC0|0BSD|Zlib|CNRI"
)
_OLD = re.compile(r"License :: (?:OSI Approved :: )?(.+)")
# Metadata that names no licence; read in the package's own repository instead.
_SAID_ELSEWHERE = {"axe-playwright-python": "MIT (axe itself: MPL-2.0)"}


def names(files: Iterable[str] = FILES) -> set[str]:
    """Every package pinned in these files."""
    lines = [line for file in files for line in (ROOT / file).read_text("utf-8").splitlines()]
    listed = {line.split("==")[0].strip() for line in lines if re.match(r"[A-Za-z0-9]", line)}
    return {_plain(name) for name in listed}


def in_the_app() -> set[str]:
    """What the app runs with: its requirements, and theirs as far as they are pinned here."""
    pinned, packages = names(), set[str]()
    # The model's package is only files: what it declares is not installed (see the Makefile).
    new = names(APP[:1])
    while new:
        packages |= new
        lines = [line for name in new for line in requires(name) or () if "extra ==" not in line]
        new = {_plain(re.split(r"[^\w.-]", line)[0]) for line in lines} & pinned - packages
    return packages | names(APP[1:])


def licence(name: str) -> str:
    """What the package says its licence is."""
    about = metadata(name)
    return _SAID_ELSEWHERE.get(name) or _stated(about) or "not stated"


def _stated(about: PackageMetadata) -> str:
    if about["License-Expression"]:
        return about["License-Expression"]
    classified = [_OLD.fullmatch(classifier) for classifier in about.get_all("Classifier") or ()]
    by_class = [match[1] for match in classified if match and match[1] != "OSI Approved"]
    text = (about["License"] or "").strip().split("\n")[0]
    return " / ".join(by_class) or text[:60]


def listed() -> str:
    """The list as Markdown."""
    inside = in_the_app()
    rows = [
        f"| {name} | {licence(name)} | {'app' if name in inside else 'tests and checks'} |"
        for name in sorted(names())
    ]
    head = [
        "# Licences of the dependencies",
        "",
        "Written by `python docs/licences.py` from installed metadata; checked by `make check`.",
        "",
        "| package | licence | for |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


if __name__ == "__main__":
    LIST.write_text(listed(), encoding="utf-8")
