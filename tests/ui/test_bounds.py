"""The caches' bounds: one number of the operator's, in fixed shares, or one plain sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pages._ui.bounds import DEFAULT_MB, LEAST_MB, cache_megabytes, share

ROOT = Path(__file__).parents[2]
CACHES = ("matrices", "pictures", "results", "trainings", "films", "shelf")
BOUNDS = """
import app
from pages._ui.live.shelf import shelf
from pages._ui.server.kept import RESULTS
from pages._ui.server.matrices import MATRICES
from pages._ui.server.pictures import PICTURES
from pages._ui.server.training_queue import RUNS
from pages._ui.table.film import FILMS
print(MATRICES.limit, PICTURES.limit, RESULTS.limit, RUNS._most_bytes, FILMS.limit, shelf.limit)
"""


def run(code: str, value: str) -> subprocess.CompletedProcess[str]:
    """Run code in a separate process with the variable set."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env={**os.environ, "POSEMBED_CACHE_MB": value},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("value", ["", " "])
def test_caches_hold_1536_mb_by_default(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("POSEMBED_CACHE_MB", value)
    sizes = [share(cache) / 2**20 for cache in CACHES]
    assert sizes == [768, 128, 128, 256, 128, 128]
    assert sum(sizes) == DEFAULT_MB


@pytest.mark.parametrize("megabytes", [LEAST_MB, 97, 1000, 100_000])
def test_shares_add_up_to_what_was_given(monkeypatch: pytest.MonkeyPatch, megabytes: int) -> None:
    monkeypatch.setenv("POSEMBED_CACHE_MB", f" {megabytes} ")
    total = sum(map(share, CACHES))
    assert megabytes * 2**20 - len(CACHES) < total <= megabytes * 2**20


def test_every_cache_takes_its_share() -> None:
    done = run(BOUNDS, "192")
    assert done.stderr == ""
    assert [int(size) / 2**20 for size in done.stdout.split()] == [96, 16, 16, 32, 16, 16]


@pytest.mark.parametrize("value", ["95", "0", "-1536", "1.5", "2GB", "1e3", "٩٩٩", "nan", "1 536"])
def test_anything_but_a_size_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("POSEMBED_CACHE_MB", value)
    with pytest.raises(SystemExit, match=f"from {LEAST_MB} on, got '{value}'; leave it out"):
        cache_megabytes()


def test_a_server_does_not_start_with_a_wrong_size() -> None:
    done = run("import app", "lots")
    assert done.returncode == 1
    assert done.stderr == (
        "POSEMBED_CACHE_MB must be a whole number of megabytes from 96 on, got 'lots'; "
        "leave it out for 1536\n"
    )
