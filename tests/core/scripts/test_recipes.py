"""Each script, run in an interpreter that doesn't have this project, gives the core's numbers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import posembed_core as pc
from posembed_core.attention.layer import attend, random_projections
from posembed_core.base import (
    AdditiveEncoding,
    BiasEncoding,
    Encoding,
    RelativeEncoding,
    RotaryEncoding,
)
from posembed_core.combination import combine
from posembed_core.long_context.pairs import pair_table
from posembed_core.operations import OPERATIONS
from posembed_core.scripts.combine import attention_script, combine_script, frequency_script
from posembed_core.scripts.tables import training_script
from posembed_core.scripts.values import DrawnTokens, Head, ModelTokens, NoRecipeError, WordTokens
from posembed_core.tables.position_table import PositionTable
from posembed_core.tokens.projections import read_projections
from posembed_core.tokens.random_tokens import random_tokens
from posembed_core.tokens.sentence_model import load_model, model_folder
from posembed_core.tokens.words import split_words, word_vectors
from posembed_core.training.tasks import TASKS
from posembed_core.training.training import TrainingSpec, train_table

AT = (0, 5, 9)
WIDTH, LENGTH = 16, 24
WORDS = "The keys to the cabinet are on the table."

# Settings of each encoding that between them take every branch of its recipe.
SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("none", {}),
    ("sinusoidal", {}),
    ("sinusoidal", {"layout": "concatenated", "base": 100.0}),
    ("learned", {}),
    ("learned", {"std": 0.1, "skip": 56, "seed": 123}),
    ("rope", {}),
    ("rope", {"pairing": "interleaved", "rotary_fraction": 0.5}),
    ("rope", {"rotary_fraction": 0.75}),
    ("rope-linear", {}),
    ("rope-ntk", {"factor": 8.0}),
    ("rope-dynamic", {"original_max_position_embeddings": 8}),
    ("rope-dynamic", {}),
    ("rope-yarn", {"original_max_position_embeddings": 64}),
    ("rope-yarn", {"truncate": False, "mscale": 1.0, "mscale_all_dim": 0.8}),
    ("rope-llama3", {"original_max_position_embeddings": 64}),
    ("rope-longrope", {}),
    (
        "rope-longrope",
        {"short_factor": (1.0,) * 8, "long_factor": tuple(map(float, range(1, 9))),
         "original_max_position_embeddings": 16},
    ),
    ("rope-proportional", {"factor": 2.0}),
    ("xpos", {}),
    ("xpos", {"pairing": "interleaved", "rotary_fraction": 0.5}),
    ("alibi", {}),
    ("alibi", {"num_heads": 12}),
    ("t5", {}),
    ("t5", {"bidirectional": False, "num_buckets": 9, "max_distance": 12}),
    ("kerple", {}),
    ("kerple", {"kernel": "power", "bias_p": (1.5,) * 8, "bias_a": (0.3,) * 8}),
    ("fire", {"threshold": 8.0}),
    ("shaw", {"max_relative_position": 3}),
    ("transformer-xl", {}),
    ("deberta", {"p2c": "paper", "max_relative_positions": 6}),
    ("deberta", {"distances": "log", "position_buckets": 8, "max_relative_positions": 20}),
    ("cope", {"npos_max": 5}),
    ("cope", {"gates": "unscaled"}),
)  # fmt: skip
NAMES = [f"{slug}-{index}" for index, (slug, _) in enumerate(SETTINGS)]

RUNNER = """
import contextlib, io, json, sys
import numpy as np, torch
answers = []
for number, script in enumerate(json.load(sys.stdin)):
    scope, output = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(script, f"script {number}", "exec"), scope)
    arrays = {name: x.detach().double().numpy() for name, x in scope.items() if torch.is_tensor(x)}
    np.savez(f"{number}.npz", **arrays)
    answers.append(output.getvalue())
assert "posembed_core" not in sys.modules and "pages" not in sys.modules
print(json.dumps(answers))
"""


@dataclass(frozen=True)
class Answer:
    """What a script printed, and the tensors that it had when it ended."""

    text: str
    arrays: dict[str, np.ndarray]

    def numbers(self, name: str) -> list[list[float]]:
        """The printed values behind each heading ``name``: the norm, then the first values."""
        lines = [line for line in self.text.split("\n") if re.match(rf"  {name} +(norm|\[)", line)]
        return [[float(x) for x in re.findall(r"-?\d+\.\d+|-?inf", line)] for line in lines]


def run_all(scripts: Sequence[str], folder: Path, threads: int = 1) -> list[Answer]:
    """Run scripts in one clean interpreter, without this project on its path."""
    run = subprocess.run(
        [sys.executable, "-I", "-c", RUNNER], env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        cwd=folder, input=json.dumps(scripts), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    texts = json.loads(run.stdout)
    return [
        Answer(text, dict(np.load(folder / f"{number}.npz"))) for number, text in enumerate(texts)
    ]


def sized(slug: str, fields: dict[str, Any], width: int = WIDTH) -> Encoding:
    """The encoding at the width that the tests use."""
    names = pc.encodings()[slug].parameters()
    size = {name: width for name in ("embed_dim", "head_dim") if name in names}
    length = {"max_seq_len": LENGTH} if "max_seq_len" in names else {}
    return pc.create(slug, **size, **length, **fields)


def close(actual: np.ndarray, expected: Tensor) -> None:
    np.testing.assert_allclose(actual, expected.double().numpy(), rtol=2e-6, atol=2e-6)


def check_printed(answer: Answer, label: str, expected: Tensor) -> None:
    """The norm and the first five values of each row, to three decimals."""
    printed = answer.numbers(label)
    assert len(printed) == len(expected)
    for numbers, row in zip(printed, expected.double(), strict=True):
        assert numbers == pytest.approx([float(row.norm()), *row[:5].tolist()], abs=6e-4)


@pytest.fixture(scope="module")
def combined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """The answers of the scripts of all settings, combined with random tokens."""
    tokens = DrawnTokens(LENGTH, WIDTH, seed=7, skip=3)
    scripts = [
        combine_script(tokens, sized(slug, fields), scale=0.75, at=AT, head=5)
        for slug, fields in SETTINGS
    ]
    answers = run_all(scripts, tmp_path_factory.mktemp("combined"))
    return dict(zip(NAMES, answers, strict=True))


@pytest.fixture(scope="module")
def attended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """The answers of the scripts of all settings, in a causal attention head."""
    scripts = []
    for index, (slug, fields) in enumerate(SETTINGS):
        encoding, head = attention_case(slug, fields)
        scripts.append(
            attention_script(
                DrawnTokens(LENGTH, WIDTH), encoding, head, scale=0.5,
                causal=index % 2 == 0, temperature=1.0 + index % 3, at=AT,
            )
        )  # fmt: skip
    answers = run_all(scripts, tmp_path_factory.mktemp("attended"))
    return dict(zip(NAMES, answers, strict=True))


def attention_case(slug: str, fields: dict[str, Any]) -> tuple[Encoding, Head]:
    encoding = sized(slug, fields)
    heads = encoding.num_heads if isinstance(encoding, BiasEncoding) else 3
    return encoding, Head(number=2, num_heads=heads, head_dim=WIDTH)


def test_every_encoding_has_a_script() -> None:
    assert {slug for slug, _ in SETTINGS} == set(pc.encodings())


@pytest.mark.parametrize(("name", "case"), list(zip(NAMES, SETTINGS, strict=True)), ids=NAMES)
def test_a_combination_is_the_cores(
    combined: dict[str, Answer], name: str, case: tuple[str, dict[str, Any]]
) -> None:
    answer, encoding = combined[name], sized(*case)
    core = combine(random_tokens(LENGTH, WIDTH, seed=7, skip=3), encoding, scale=0.75)
    close(answer.arrays["e"], core.token)
    close(answer.arrays["h"], core.combined)
    check_printed(answer, "e", core.token[list(AT)])
    check_printed(answer, "h", core.combined[list(AT)])
    if isinstance(encoding, AdditiveEncoding):
        check_printed(answer, "s·p", core.position[list(AT)])
    elif isinstance(encoding, RotaryEncoding):
        check_printed(answer, "h - e", core.moved[list(AT)])
    elif isinstance(encoding, BiasEncoding):
        close(0.75 * answer.arrays["b"], core.position[5, list(AT)])
        check_printed(answer, "s·b", core.position[5, list(AT)])
    else:
        assert isinstance(encoding, RelativeEncoding)
        check_printed(answer, "s·a", core.position[list(AT)])


@pytest.mark.parametrize(("name", "case"), list(zip(NAMES, SETTINGS, strict=True)), ids=NAMES)
def test_a_head_is_the_cores(
    attended: dict[str, Answer], name: str, case: tuple[str, dict[str, Any]]
) -> None:
    answer, index = attended[name], NAMES.index(name)
    encoding, head = attention_case(*case)
    core = attend(
        random_tokens(LENGTH, WIDTH), encoding,
        random_projections(WIDTH, head.num_heads, head_dim=WIDTH),
        scale=0.5, causal=index % 2 == 0, temperature=1.0 + index % 3,
    )  # fmt: skip
    allowed = core.allowed.numpy()
    np.testing.assert_allclose(
        answer.arrays["scores"][allowed], core.scores[2].double().numpy()[allowed],
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip
    close(answer.arrays["alpha"], core.weights[2])
    printed = answer.numbers("softmax")
    for weights, query in zip(printed, AT, strict=True):
        assert weights == pytest.approx(core.weights[2, query, :8].tolist(), abs=6e-5)


def test_operations_and_normalisation(tmp_path: Path) -> None:
    encoding = sized("sinusoidal", {})
    cases: list[dict[str, Any]] = [
        {"operation": operation, "layer_norm": layer_norm, "scale": 2.0, "sqrt_dim": True}
        for operation in OPERATIONS
        for layer_norm in (False, True)
    ]
    tokens = DrawnTokens(LENGTH, WIDTH)
    answers = run_all([combine_script(tokens, encoding, at=AT, **case) for case in cases], tmp_path)
    for case, answer in zip(cases, answers, strict=True):
        core = combine(random_tokens(LENGTH, WIDTH), encoding, **case).combined
        np.testing.assert_allclose(answer.arrays["h"], core.double(), rtol=1e-5, atol=1e-5)
        check_printed(answer, "h", core[list(AT)])


def test_the_handbooks_numbers_are_printed(tmp_path: Path) -> None:
    table = pc.create("learned")
    (answer,) = run_all([combine_script(DrawnTokens(10, 64), table, at=AT)], tmp_path)
    assert [row[0] for row in answer.numbers("e")] == [4.709, 3.886, 4.019]
    assert [row[0] for row in answer.numbers("s·p")] == [0.910, 0.881, 1.000]
    assert [row[0] for row in answer.numbers("h")] == [4.554, 3.958, 4.333]


def test_a_sentence_is_the_models(tmp_path: Path) -> None:
    folder = model_folder()
    assert folder is not None
    model = load_model(folder)
    (tmp_path / model.name).symlink_to(folder)
    assert model.layer_norm is not None
    tokens = ModelTokens(WORDS, model)
    encodings = [model.positions, sized("sinusoidal", {}, 384), sized("rope", {}, 384)]
    in_heads = [model.positions, sized("rope", {}, 32), sized("alibi", {"num_heads": 12})]
    scripts = []
    for encoding, in_head in zip(encodings, in_heads, strict=True):
        scripts += [
            combine_script(tokens, encoding, at=AT),
            combine_script(tokens, encoding, at=AT, layer_norm=True),
            attention_script(tokens, in_head, Head(3, 12, 32, seed=None), at=AT),
        ]
    answers = run_all(scripts, tmp_path)
    e = model.embed(model.tokenize(WORDS))
    for case, (encoding, in_head) in enumerate(zip(encodings, in_heads, strict=True)):
        plain, normed, head = answers[3 * case : 3 * case + 3]
        combined = combine(e, encoding).combined
        close(plain.arrays["h"], combined)
        check_printed(plain, "LN\\(h\\)", model.layer_norm(combined[list(AT)]))
        check_printed(normed, "h", model.layer_norm(combined[list(AT)]))
        core = attend(e, in_head, read_projections(folder), layer_norm=model.layer_norm)
        np.testing.assert_allclose(
            head.arrays["scores"], core.scores[3].double(), rtol=1e-4, atol=1e-4
        )
        for weights, query in zip(head.numbers("softmax"), AT, strict=True):
            assert weights == pytest.approx(core.weights[3, query, :8].tolist(), abs=1e-4)


def test_words_without_a_model_are_the_cores(tmp_path: Path) -> None:
    encoding, head = sized("shaw", {}), Head(1, 2, WIDTH)
    cases = [WordTokens(WORDS, WIDTH, std=0.25), WordTokens(WORDS, WIDTH, seed=5, most=6)]
    scripts = [attention_script(words, encoding, head, sqrt_dim=True) for words in cases]
    for words, answer in zip(cases, run_all(scripts, tmp_path), strict=True):
        read = split_words(words.text)
        if words.most is not None:
            read = read.first(words.most)
        e = word_vectors(read, WIDTH, words.seed, words.std) * WIDTH**0.5
        core = attend(e, encoding, random_projections(WIDTH, 2, head_dim=WIDTH))
        close(answer.arrays["alpha"], core.weights[1])


def test_frequencies_are_the_cores(tmp_path: Path) -> None:
    cases = [(slug, fields) for slug, fields in SETTINGS if slug.startswith("rope")]
    encodings = [sized(slug, fields) for slug, fields in cases]
    assert all(isinstance(encoding, RotaryEncoding) for encoding in encodings)
    answers = run_all([frequency_script(encoding, 4096) for encoding in encodings], tmp_path)
    for encoding, answer in zip(encodings, answers, strict=True):
        table = pair_table(encoding, 4096)
        np.testing.assert_allclose(answer.arrays["before"], table.before, rtol=1e-14)
        np.testing.assert_allclose(answer.arrays["omega"], table.after, rtol=1e-13)
        rows = [line.split() for line in answer.text.split("\n") if re.match(r" +\d+ ", line)]
        assert [float(row[2]) for row in rows] == pytest.approx(table.after.tolist(), rel=1e-8)
        assert [float(row[4]) for row in rows] == pytest.approx(
            table.wavelength_after.tolist(), rel=1e-8
        )


def test_training_gives_the_same_table(tmp_path: Path) -> None:
    specs = [
        TrainingSpec(task=task, max_seq_len=16, seq_len=12, embed_dim=8, steps=7, snapshot_every=3)
        for task in TASKS
    ]
    for spec, answer in zip(
        specs, run_all(list(map(training_script, specs)), tmp_path), strict=True
    ):
        snapshots = list(train_table(spec))
        close(answer.arrays["p"], snapshots[-1].weight)
        losses = re.findall(r"step (\d+): loss (\d\.\d+)", answer.text)
        assert [int(step) for step, _ in losses] == [snapshot.step for snapshot in snapshots]
        assert [float(loss) for _, loss in losses] == pytest.approx(
            [snapshot.loss for snapshot in snapshots], abs=2e-6
        )


def test_logarithmic_buckets_never_miss_a_border(tmp_path: Path) -> None:
    debertas = [
        pc.create(
            "deberta",
            head_dim=4,
            distances="log",
            position_buckets=buckets,
            max_relative_positions=most,
        )
        for buckets, most in ((32, 128), (7, 40), (256, 512), (5, 9))
    ]
    t5s = [
        pc.create("t5", bidirectional=two, num_buckets=buckets, max_distance=most)
        for two, buckets, most in ((True, 32, 128), (False, 32, 128), (True, 60, 1000))
    ]
    tokens, head = DrawnTokens(600, 4), Head(0, 1, 4)
    scripts = [attention_script(tokens, encoding, head) for encoding in debertas]
    scripts += [combine_script(tokens, encoding, at=(0, 599)) for encoding in t5s]
    answers = run_all(scripts, tmp_path)
    positions = torch.arange(600)
    for encoding, answer in zip(debertas, answers, strict=False):
        assert np.array_equal(answer.arrays["rows"], encoding.rows(positions, positions)[0])
    for encoding, answer in zip(t5s, answers[len(debertas) :], strict=True):
        close(answer.arrays["b"], encoding.bias([0, 599], positions)[0])


def test_scripts_are_short() -> None:
    for slug, fields in SETTINGS:
        script = combine_script(DrawnTokens(LENGTH, WIDTH), sized(slug, fields), at=AT)
        lines = [line for line in script.split("\n") if line.strip()]
        assert len(lines) <= 50, slug
        assert max(map(len, lines)) <= 100, slug


def test_a_foreign_table_has_no_script() -> None:
    table = PositionTable(weight=torch.zeros(4, 8), name="wpe", source="a file")
    with pytest.raises(NoRecipeError, match="no script yet for wpe"):
        combine_script(DrawnTokens(4, 8), table)
