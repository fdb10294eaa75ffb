"""`python -m posembed_core config.json`, as engineers call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from posembed_core.__main__ import main

GEMMA = {"model_type": "gemma3_text", "num_hidden_layers": 12, "sliding_window": 1024}


def written(folder: Path, config: object) -> str:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return str(path)


def test_the_report_names_each_kind_of_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([written(tmp_path, GEMMA)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("The model has a rotation of queries and keys")
    assert lines[1] == (
        "Layers 0–4, 6–10 (sliding_attention): RoPE, base 10,000, 256 of 256 dimensions, "
        "pairs half, window 1,024."
    )
    assert lines[2].startswith("Layers 5, 11 (full_attention): RoPE, base 1,000,000, 256 of 256")
    assert lines[-1] == "Nothing odd was found in the config."


def test_json_is_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, {"model_type": "gpt2", "n_positions": 1024}), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["known"] == "type"
    assert report["input"] == {"kind": "learned", "rows": 1024, "dimensions": None}
    assert report["findings"] == []


def test_the_status_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    yarn = {"head_dim": 64, "rope_theta": 1e4, "rope_scaling": {"type": "yarm", "factor": 2}}
    assert main([written(tmp_path, yarn)]) == 1
    assert "did you mean 'yarn'?" in capsys.readouterr().out
    assert main([written(tmp_path, {"model_type": "my-own"})]) == 1
    assert main([str(tmp_path / "none.json")]) == 2
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "config.json").write_text("{")
    assert main([str(tmp_path / "config.json")]) == 2


def test_an_error_of_the_layers_is_one_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = {"model_type": "smollm3", "num_hidden_layers": 4, "no_rope_layers": [1]}
    assert main([written(tmp_path, short)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("error: no_rope_layers must have one entry for each of the 4 layers")
    assert main([written(tmp_path, {"model_type": "bloom", "n_layer": "x"})]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("error: num_hidden_layers must be a number, got the text 'x'")


def test_a_config_comes_by_a_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "posembed_core", "-"],
        input=json.dumps(GEMMA),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Layers 5, 11 (full_attention)" in done.stdout
