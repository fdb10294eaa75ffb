"""What others need to join in: compatible licences, and workflows and forms that are valid."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
KINDS = {"input", "textarea", "dropdown", "checkboxes", "markdown"}

spec = importlib.util.spec_from_file_location("licences", ROOT / "docs" / "licences.py")
licences = importlib.util.module_from_spec(spec)
spec.loader.exec_module(licences)


def test_the_list_of_licences_is_what_is_installed() -> None:
    written = licences.LIST.read_text(encoding="utf-8")
    assert licences.listed() == written, "run python docs/licences.py"


def test_every_licence_in_the_app_fits() -> None:
    licence_of = {name: licences.licence(name) for name in licences.in_the_app()}
    assert {"streamlit", "torch", "numpy", "segno", "pandas"} <= licence_of.keys()
    assert {
        name: text
        for name, text in licence_of.items()
        if not licences.FITTING.search(text) or "GPL" in text
    } == {}


def test_every_dependency_says_its_licence() -> None:
    assert [name for name in licences.names() if licences.licence(name) == "not stated"] == []


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_one(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert set(form) <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= form.keys()
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert {field["type"] for field in form["body"]} <= KINDS
    assert all(field["attributes"]["label"] for field in form["body"])


def test_the_workflow_runs_what_contributors_run() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    runs = "\n".join(step.get("run", "") for step in steps)
    assert "make check test" in runs
    assert "docker build" in runs


def test_the_citation_has_what_the_format_needs() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "license"} <= cited.keys()
    assert cited["license"] == (ROOT / "LICENSE").read_text(encoding="utf-8").split()[0]
