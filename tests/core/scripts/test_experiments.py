"""The scripts of the attention page's experiments give the core's numbers without this project."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import posembed_core as pc
from posembed_core.attention.distance import (
    mean_cosine,
    measured_half_lives,
    random_scores_at_distances,
    rotary_bound,
    scores_at_distances,
)
from posembed_core.attention.experiments import four_terms, shift_test
from posembed_core.attention.layer import random_projections
from posembed_core.attention.shuffle import permutation_test
from posembed_core.base import AdditiveEncoding, BiasEncoding, Encoding, RotaryEncoding
from posembed_core.scripts.experiments import (
    distance_script,
    four_script,
    shift_script,
    shuffle_script,
)
from posembed_core.scripts.values import Head, ModelTokens, NoRecipeError, WordTokens
from posembed_core.tokens.projections import read_projections
from posembed_core.tokens.sentence_model import load_model, model_folder
from posembed_core.tokens.words import split_words, word_vectors
from tests.core.scripts.test_recipes import SETTINGS, Answer, run_all

WIDTH, HEADS, HEAD_DIM, ROWS = 16, 2, 8, 64
TEXT = "The keys to the cabinet are on the table"
WORDS = WordTokens(TEXT, WIDTH, std=0.25)
HEAD = Head(1, HEADS, HEAD_DIM)
SHIFT = 7
DISTANCES = [0, 1, 2, 10, 40, 63]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
CASES = [(f"{slug}-{index}", slug, fields) for index, (slug, fields) in enumerate(SETTINGS)]


def in_layer(slug: str, fields: dict[str, Any]) -> Encoding:
    """The encoding in the layer's sizes, without settings that list one number a head or pair."""
    fits = {name: value for name, value in fields.items() if not isinstance(value, tuple)}
    widths = {"embed_dim": WIDTH, "head_dim": HEAD_DIM, "num_heads": HEADS, "max_seq_len": ROWS}
    names = pc.encodings()[slug].parameters()
    return pc.create(slug, **{**fits, **{k: v for k, v in widths.items() if k in names}})


def vectors() -> torch.Tensor:
    return word_vectors(split_words(TEXT), WIDTH, WORDS.seed, WORDS.std)


def numbers(text: str, after: str) -> list[list[float]]:
    """The numbers in each line that begins with these words."""
    lines = [
        line.partition(after)[2] for line in text.split("\n") if line.strip().startswith(after)
    ]
    return [[float(number) for number in NUMBER.findall(line)] for line in lines]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Answer]]:
    """What the three scripts of each encoding print."""
    scripts, names = [], []
    for name, slug, fields in CASES:
        encoding = in_layer(slug, fields)
        scripts += [
            shuffle_script(WORDS, encoding, HEAD, seed=3, scale=0.5),
            shift_script(WORDS, encoding, HEAD, shift=SHIFT, scale=0.5, sqrt_dim=True, at=[2]),
            distance_script(encoding, one_width(encoding), DISTANCES, head=1, asked=[1, 40]),
        ]
        names += [(name, kind) for kind in ("shuffle", "shift", "distance")]
    by_name: dict[str, dict[str, Answer]] = {}
    printed = run_all(scripts, tmp_path_factory.mktemp("probes"))
    for (name, kind), answer in zip(names, printed, strict=True):
        by_name.setdefault(name, {})[kind] = answer
    return by_name


def one_width(encoding: Encoding) -> int:
    return int(getattr(encoding, "embed_dim", None) or getattr(encoding, "head_dim", HEAD_DIM))


@pytest.mark.parametrize(("name", "slug", "fields"), CASES, ids=[case[0] for case in CASES])
def test_a_shuffle_breaks_as_much(
    answers: dict[str, dict[str, Answer]], name: str, slug: str, fields: dict[str, Any]
) -> None:
    printed = answers[name]["shuffle"].text
    projections = random_projections(WIDTH, HEADS)
    core = [
        permutation_test(
            vectors().double(), in_layer(slug, fields), projections,
            seed=3, scale=0.5, causal=causal,
        )
        for causal in (False, True)
    ]  # fmt: skip
    errors, outputs = numbers(printed, "error"), numbers(printed, "f(X)")
    slots = numbers(printed, "slots")
    for test, error, output, slot in zip(core, errors, outputs, slots, strict=True):
        # Where only rounding is left, the script rounds differently.
        assert error == pytest.approx([test.frobenius, test.maximum], rel=1e-4, abs=1e-12)
        assert output == pytest.approx([test.output_norm], rel=1e-5)
        assert slot == pytest.approx(test.error[:8].tolist(), rel=1e-4, abs=1e-12)


@pytest.mark.parametrize(("name", "slug", "fields"), CASES, ids=[case[0] for case in CASES])
def test_a_shift_changes_as_much(
    answers: dict[str, dict[str, Answer]], name: str, slug: str, fields: dict[str, Any]
) -> None:
    printed = answers[name]["shift"].text
    core = shift_test(
        vectors().double() * WIDTH**0.5, in_layer(slug, fields),
        random_projections(WIDTH, HEADS), shift=SHIFT, scale=0.5,
    )  # fmt: skip
    (greatest,) = numbers(printed, "greatest change")
    assert greatest == pytest.approx([core.maximum, core.score_size], rel=1e-4, abs=1e-12)
    (row,) = numbers(printed, "query 2")
    assert row == pytest.approx(core.change[1, 2, :8].tolist(), rel=1e-3, abs=2e-6)


@pytest.mark.parametrize(("name", "slug", "fields"), CASES, ids=[case[0] for case in CASES])
def test_scores_fall_with_distance_as_much(
    answers: dict[str, dict[str, Answer]], name: str, slug: str, fields: dict[str, Any]
) -> None:
    text, encoding = answers[name]["distance"].text, in_layer(slug, fields)
    width, heads = one_width(encoding), isinstance(encoding, BiasEncoding)
    bare = isinstance(encoding, AdditiveEncoding | BiasEncoding)
    q = torch.full((HEADS, width) if heads else (width,), 0.0 if bare else 1.0).double()
    factor = encoding.softmax_scale(width)
    same = scores_at_distances(encoding, q, q, DISTANCES, softmax_scale=factor)
    core = random_scores_at_distances(encoding, width, DISTANCES, softmax_scale=factor)
    mean, error = core.mean, core.standard_error
    if heads:
        same, mean, error = same[1], mean[1], error[1]
    lines = [line.split() for line in text.split("\n") if re.match(r" +\d+ +-?[\d.]", line)]
    for line, distance in zip(lines, (1, 40), strict=True):
        at = DISTANCES.index(distance)
        expected = [float(same[at]), float(same[at] - same[0]), float(mean[at]), float(error[at])]
        assert [float(number) for number in line[1:5]] == pytest.approx(
            expected, rel=1e-5, abs=2e-6
        )
    if isinstance(encoding, RotaryEncoding):
        cosines, bounds = mean_cosine(encoding, DISTANCES), rotary_bound(encoding, DISTANCES)
        rows = [[float(x) for x in NUMBER.findall(line)] for line in text.split("\n")
                   if "mean cosine" in line]  # fmt: skip
        for values, distance in zip(rows, (1, 40), strict=True):
            at = DISTANCES.index(distance)
            assert values == pytest.approx(
                [distance, float(cosines[at]), float(bounds[at])], abs=2e-6
            )
    if heads:
        half = float(measured_half_lives(encoding)[1])
        printed = numbers(text, "half-life")
        assert printed == [[8192.0]] if half == np.inf else printed == [[pytest.approx(half)]]


def test_the_four_terms_are_the_cores(tmp_path: Path) -> None:
    slugs = ("sinusoidal", "learned", "none")
    encodings = [in_layer(slug, {}) for slug in slugs]
    assert all(isinstance(encoding, AdditiveEncoding) for encoding in encodings)
    shares = (0.0, 0.4, 1.0)
    scripts = [
        four_script(WORDS, encoding, HEAD, scale=2.0, removed=removed, at=[3])
        for encoding, removed in zip(encodings, shares, strict=True)
    ]
    answers = run_all(scripts, tmp_path)
    for encoding, removed, answer in zip(encodings, shares, answers, strict=True):
        core = four_terms(
            vectors().double(), encoding, random_projections(WIDTH, HEADS), scale=2.0,
            removed=removed,
        )  # fmt: skip
        parts = (core.content_content, core.content_position, core.position_content,
                 core.position_position, core.scores)  # fmt: skip
        rows = numbers(answer.text, "query 3")
        lines = [line for line in answer.text.split("\n") if "greatest" in line]
        for part, row, line in zip(parts, rows, lines, strict=True):
            greatest = float(line.rpartition("greatest")[2])
            assert greatest == pytest.approx(float(part[1].abs().max()), rel=1e-4)
            assert row == pytest.approx(part[1, 3, :8].tolist(), rel=1e-4, abs=1e-6)


def test_a_models_layer_is_read(tmp_path: Path) -> None:
    folder = model_folder()
    assert folder is not None
    model = load_model(folder)
    (tmp_path / model.name).symlink_to(folder)
    tokens, head = ModelTokens(TEXT, model), Head(3, 12, 32, seed=None)
    special = model.tokenize(TEXT).special
    rope, sinusoidal = pc.create("rope", head_dim=32), pc.create("sinusoidal", embed_dim=384)
    assert isinstance(sinusoidal, AdditiveEncoding)
    scripts = [
        shuffle_script(tokens, model.positions, head, seed=1, fixed=special),
        shift_script(tokens, rope, head, shift=100, sqrt_dim=True),
        four_script(tokens, sinusoidal, head, sqrt_dim=True),
        shift_script(tokens, model.positions, head, shift=100, at=[4]),
    ]
    shuffled, moved, four, own = run_all(scripts, tmp_path)
    e = model.embed(model.tokenize(TEXT)).double()
    projections, norm = read_projections(folder), model.layer_norm
    assert norm is not None
    norm = type(norm)(norm.weight.double(), norm.bias.double(), norm.eps)
    core = permutation_test(e, model.positions, projections, seed=1, fixed=special, layer_norm=norm)
    assert numbers(shuffled.text, "error")[0][0] == pytest.approx(core.frobenius, rel=1e-4)
    assert numbers(shuffled.text, "f(X)")[0][0] == pytest.approx(core.output_norm, rel=1e-5)
    shift = shift_test(e * 384**0.5, rope, projections, shift=100, layer_norm=norm)
    assert numbers(moved.text, "greatest change")[0][1] == pytest.approx(shift.score_size, rel=1e-5)
    terms = four_terms(e * 384**0.5, sinusoidal, projections, layer_norm=norm)
    greatest = [float(line.split()[-1]) for line in four.text.split("\n") if "greatest" in line]
    assert greatest[1] == pytest.approx(float(terms.content_position[3].abs().max()), rel=1e-4)
    table = shift_test(e, model.positions, projections, shift=100, layer_norm=norm)
    assert numbers(own.text, "query 4")[0] == pytest.approx(
        table.change[3, 4, :8].tolist(), rel=1e-3
    )


def test_a_shift_beyond_a_table_has_no_script() -> None:
    table = pc.create("learned", embed_dim=WIDTH, max_seq_len=16)
    with pytest.raises(NoRecipeError, match=r"nothing to compute: .*16"):
        shift_script(WORDS, table, HEAD, shift=10)
