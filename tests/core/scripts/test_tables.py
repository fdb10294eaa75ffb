"""The scripts of the table page give the core's numbers, in an interpreter without this project."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from jaxtyping import Float
from torch import Tensor

import posembed_core as pc
from posembed_core.base import AdditiveEncoding
from posembed_core.scripts.tables import (
    FormulaTable,
    ModelTable,
    StoredTable,
    TableSource,
    TrainedTable,
    gradient_script,
    lookup_script,
    measures_script,
    training_script,
)
from posembed_core.scripts.values import NoRecipeError
from posembed_core.tables.extension import by_formula, interpolated, longer
from posembed_core.tables.measures.analysis import (
    Measures,
    adjacent_cosine,
    distance_decay,
    fourier_power,
    measure,
    patch_similarity,
    principal_components,
    row_norms,
    singular_values,
    sinusoid_distance,
)
from posembed_core.tokens.sentence_model import load_model, model_folder
from posembed_core.training.training import TrainingSpec, gradient_step, train_table
from tests.core.scripts.test_recipes import Answer, run_all

NUMBER = re.compile(r"nan|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
SPEC = TrainingSpec(max_seq_len=25, seq_len=20, embed_dim=8, steps=9, snapshot_every=3)
MEASURES = ("norms", "similarity", "patches", "singular values", "waves", "components")


def additive(slug: str, **fields: int) -> AdditiveEncoding:
    encoding = pc.create(slug, **fields)
    assert isinstance(encoding, AdditiveEncoding)
    return encoding


def listed(answer: Answer, after: str) -> list[float]:
    """The numbers in brackets in the line that begins with this."""
    line = next(line for line in answer.text.split("\n") if line.strip().startswith(after))
    return [float(number) for number in NUMBER.findall(line.partition("[")[2])]


def value(answer: Answer, name: str) -> float:
    """The first number after a name."""
    line = next(line for line in answer.text.split("\n") if line.startswith(name))
    return float(NUMBER.findall(line.removeprefix(name))[0])


def check_measures(answer: Answer, measured: Measures) -> None:
    """The six numbers of the page's table."""
    expected = {
        "mean norm": measured.mean_norm,
        "cosine of adjacent rows": measured.adjacent,
        "… mean row removed": measured.adjacent_centred,
        "effective rank": measured.effective_rank,
        "variance in 3 components": measured.three_components,
    }
    for name, number in expected.items():
        assert number is not None
        assert value(answer, name) == pytest.approx(number, rel=1e-5), name
    assert measured.sinusoid is not None
    assert value(answer, "distance to a sinusoid") == pytest.approx(
        measured.sinusoid.distance, abs=1e-5
    )
    sinusoid = f"(base {measured.sinusoid.base:g}, exponents {measured.sinusoid.spacing})"
    assert sinusoid in answer.text


def trained(step: int) -> Float[Tensor, "n d"]:
    return next(snapshot.weight for snapshot in train_table(SPEC) if snapshot.step == step)


def test_measures_are_the_cores(tmp_path: Path) -> None:
    waves, noise = (additive("sinusoidal", embed_dim=8),
                    additive("learned", embed_dim=8, max_seq_len=25, seed=3))  # fmt: skip
    sources: Sequence[TableSource] = (
        TrainedTable(SPEC, 6), TrainedTable(SPEC, 0), FormulaTable(waves, 25),
        FormulaTable(noise, 25),
    )  # fmt: skip
    tables = (
        trained(6),
        SPEC.initial_table(),
        waves.table(torch.arange(25)),
        noise.table(torch.arange(25)),
    )
    fits = [sinusoid_distance(table) for table in tables]
    cases = [
        (source, which, fit)
        for source, fit in zip(sources, fits, strict=True)
        for which in MEASURES
    ]
    answers = iter(run_all([measures_script(*case) for case in cases], tmp_path))
    for table in tables:
        for which in MEASURES:
            answer = next(answers)
            check_measures(answer, measure(table))
            check_measure(which, table, answer)


def check_measure(which: str, table: Float[Tensor, "n d"], answer: Answer) -> None:
    near = {"rel": 1e-5, "abs": 2e-6}
    if which == "norms":
        assert listed(answer, "norms") == pytest.approx(row_norms(table)[:8].tolist(), **near)
    elif which == "similarity":
        decay = distance_decay(table).values
        for apart in (1, 2, 4, 8, 16):
            printed = value(answer, f"mean cosine {apart} apart:")
            assert printed == pytest.approx(float(decay[apart]), **near)
    elif which == "patches":
        first = patch_similarity(table).values[0, :5]
        assert listed(answer, "cosines of the first patch") == pytest.approx(first.tolist(), **near)
    elif which == "singular values":
        values = singular_values(table)[:8].tolist()
        assert listed(answer, "singular values") == pytest.approx(values, **near)
    elif which == "waves":
        power = fourier_power(table).power.double().mean(dim=1)
        strongest = float(power.max())
        line = next(line for line in answer.text.split("\n") if line.startswith("frequency"))
        assert [float(number) for number in NUMBER.findall(line)] == pytest.approx(
            [int(power.argmax()) / 25, strongest], **near
        )
    else:
        components = principal_components(table)
        assert value(answer, "component 1:") == pytest.approx(float(components.shares[0]), **near)
        assert listed(answer, "component 2:") == pytest.approx(
            components.curves[:5, 1].tolist(), rel=1e-4, abs=1e-5
        )


def bfloat16_array(weight: Float[Tensor, "n d"]) -> bytes:
    """The .npy that ml_dtypes' bfloat16 leads to."""
    buffer = io.BytesIO()
    np.save(buffer, weight.to(torch.bfloat16).view(torch.int16).numpy())
    return buffer.getvalue().replace(b"'<i2'", b"'<V2'")


def test_a_file_is_read_by_its_name(tmp_path: Path) -> None:
    weight = torch.randn(27, 8, generator=torch.Generator().manual_seed(0))
    half = weight.to(torch.bfloat16)
    np.save(tmp_path / "a.npy", weight.double().numpy())
    np.savez(tmp_path / "b.npz", other=np.zeros(3), wpe=weight[None].numpy())
    safetensors.torch.save_file({"wpe.weight": half}, tmp_path / "c.safetensors")
    torch.save({"model": {"wpe.weight": torch.nn.Parameter(weight)}}, tmp_path / "d.bin")
    torch.save(weight, tmp_path / "e.pt")
    (tmp_path / "f.npy").write_bytes(bfloat16_array(weight))
    torch.save({"pos_encoder.pe": weight[:, None]}, tmp_path / "g.pt")
    stored = {
        "a.npy": "array", "b.npz": "wpe", "c.safetensors": "wpe.weight",
        "d.bin": "model.wpe.weight", "e.pt": "tensor", "f.npy": "array", "g.pt": "pos_encoder.pe",
    }  # fmt: skip
    fit = sinusoid_distance(weight[2:])
    rounded = sinusoid_distance(half[2:].float())
    scripts = [
        measures_script(StoredTable(file, name, 2), fit=rounded if file[0] in "cf" else fit)
        for file, name in stored.items()
    ]
    for (file, name), answer in zip(stored.items(), run_all(scripts, tmp_path), strict=True):
        table = pc.load_table(tmp_path / file, name, offset=2)
        assert np.array_equal(answer.arrays["p"], table.rows.double()), file
        check_measures(answer, measure(table.rows))


def test_a_models_table_is_read(tmp_path: Path) -> None:
    folder = model_folder()
    assert folder is not None
    model = load_model(folder)
    (tmp_path / model.name).symlink_to(folder)
    (answer,) = run_all([lookup_script(ModelTable(model.name), 100)], tmp_path)
    row = model.positions.table([100])[0]
    assert listed(answer, "[") == pytest.approx(row[:8].tolist(), rel=1e-5)


def test_a_zero_row_is_left_out(tmp_path: Path) -> None:
    weight = torch.randn(6, 8, generator=torch.Generator().manual_seed(1))
    weight[3] = 0
    np.save(tmp_path / "p.npy", weight.numpy())
    (answer,) = run_all([measures_script(StoredTable("p.npy", "array"), "similarity")], tmp_path)
    expected = adjacent_cosine(weight)
    assert expected is not None
    assert value(answer, "cosine of adjacent rows") == pytest.approx(expected, rel=1e-5)
    decay = float(distance_decay(weight).values[2])
    assert value(answer, "mean cosine 2 apart:") == pytest.approx(decay, rel=1e-5)


def test_one_row_is_looked_up(tmp_path: Path) -> None:
    source, table = TrainedTable(SPEC, 3), trained(3)
    waves = additive("sinusoidal", embed_dim=8)
    cases = {
        "longer": longer(table, 40).weight,
        "interpolated": interpolated(table, 49).weight,
        "formula": by_formula(table, 40, waves).weight,
    }
    scripts = [
        lookup_script(source, 33, way=way, length=len(long), formula=waves)
        for way, long in cases.items()
    ]
    scripts += [lookup_script(source, position) for position in (7, 25, -1)]
    *extended, inside, beyond, negative = run_all(scripts, tmp_path)
    for (way, long), answer in zip(cases.items(), extended, strict=True):
        assert f"{len(long)} positions, 8 dimensions" in answer.text, way
        assert listed(answer, "[") == pytest.approx(long[33].tolist(), rel=1e-5, abs=1e-6), way
    assert listed(inside, "[") == pytest.approx(table[7].tolist(), rel=1e-5)
    assert value(inside, "position 7: norm") == pytest.approx(float(row_norms(table)[7]), rel=1e-5)
    assert "position 25: index out of range" in beyond.text
    assert "position -1: index out of range" in negative.text


def test_a_formula_may_follow_a_formula(tmp_path: Path) -> None:
    waves = additive("sinusoidal", embed_dim=8)
    source = FormulaTable(additive("none", embed_dim=8), 10)
    script = lookup_script(source, 15, way="formula", length=20, formula=waves)
    (answer,) = run_all([script], tmp_path)
    assert listed(answer, "[") == pytest.approx(waves.table([15])[0].tolist(), rel=1e-5, abs=1e-6)


def test_one_step_moves_the_same_rows(tmp_path: Path) -> None:
    cases = [(SPEC, 0), (SPEC, 5)]
    scripts = [gradient_script(spec, start, [start, start + 3]) for spec, start in cases]
    for (spec, start), answer in zip(cases, run_all(scripts, tmp_path), strict=True):
        core = gradient_step(spec, start)
        assert f"loss {core.loss:.6f}; 20 rows moved: {start} to {start + 19}" in answer.text
        for row in (start, start + 3):
            printed = value(answer, f"row {row}: norm of the gradient")
            assert printed == pytest.approx(float(core.grad[row].double().norm()), rel=1e-5)
            change = (core.after - core.before)[row, :5].tolist()
            assert listed(answer, f"row {row}:") == pytest.approx(change, rel=1e-4, abs=1e-7)


def test_a_run_may_end_before_its_end(tmp_path: Path) -> None:
    # As on a visitor's machine: bit for bit the same, however many threads there are.
    (answer,) = run_all([training_script(SPEC, 6)], tmp_path, threads=2)
    assert np.array_equal(answer.arrays["p"], trained(6).double())
    assert re.findall(r"step (\d+)", answer.text) == ["0", "3", "6"]


def test_scripts_of_tables_are_short() -> None:
    scripts = [
        measures_script(TrainedTable(SPEC, 6), "components"),
        measures_script(StoredTable("a.pt", "wpe"), "components"),
        lookup_script(StoredTable("a.pt", "wpe"), 3),
        gradient_script(SPEC, 0, [0]),
    ]
    for script in scripts:
        lines = [line for line in script.split("\n") if line.strip()]
        assert len(lines) <= 110
        assert max(map(len, lines)) <= 100


def test_an_encoding_without_a_recipe_has_no_script() -> None:
    table = pc.PositionTable(weight=torch.zeros(4, 8), name="wpe", source="a file")
    with pytest.raises(NoRecipeError, match="no script yet for wpe"):
        measures_script(FormulaTable(table, 4))
