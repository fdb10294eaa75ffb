"""The cache of small results: each computed once, weighed whole, and bounded in bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import posembed_core as pc
from pages._ui.attention.inputs import Scene, inputs, split
from pages._ui.live import pack_array
from pages._ui.server.kept import RESULTS, kept
from pages._ui.server.store import weigh
from posembed_core.tables.position_table import PositionTable

KILOBYTE = 1000


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    RESULTS.clear()
    yield
    RESULTS.clear()


@dataclass(frozen=True)
class Pair:
    first: object
    second: object = None


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (torch.zeros(1000, 25), 100 * KILOBYTE),
        (torch.zeros(1000, 25)[:1], 100 * KILOBYTE),  # a view holds on to the whole
        (np.zeros((1000, 25)), 200 * KILOBYTE),
        (b"x" * 5000, 5 * KILOBYTE),
        ([torch.zeros(250), {"name": np.zeros(125)}], 2 * KILOBYTE),
        (Pair(torch.zeros(2500), ("x" * 3000,)), 13 * KILOBYTE),
        (SimpleNamespace(a=Pair(b"x" * 4000)), 4 * KILOBYTE),
        (pack_array(np.zeros((100, 100)), exact=True), 40 * KILOBYTE),
    ],
)
def test_a_result_weighs_what_it_holds(value: object, held: int) -> None:
    assert held <= weigh(value) <= held + 4 * KILOBYTE


def test_what_is_referred_to_twice_counts_once() -> None:
    shared = torch.zeros(10_000)
    assert weigh([shared, shared[5:], Pair(shared)]) < 45 * KILOBYTE
    circle: list[object] = [b"x" * 1000]
    circle.append(circle)
    assert weigh(circle) < 3 * KILOBYTE


def test_results_stay_within_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RESULTS.results, "_Cache__maxsize", 1_000_000)

    @kept()
    def numbers(seed: int) -> torch.Tensor:
        return torch.full((25_000,), seed)  # 200 kB

    for seed in range(20):
        assert numbers(seed)[7] == seed
        assert RESULTS.size == sum(map(weigh, RESULTS.results.values())) <= 1_000_000
    assert len(RESULTS.results) == 4
    assert torch.equal(numbers(0), torch.full((25_000,), 0)), "what has left comes back equal"


def test_a_result_beyond_the_bound_is_given_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RESULTS.results, "_Cache__maxsize", 1000)
    assert len(kept()(lambda: b"x" * 2000)()) == 2000
    assert RESULTS.size == 0


def test_functions_do_not_mix_up_their_results() -> None:
    @kept()
    def double(x: int) -> int:
        return 2 * x

    @kept()
    def triple(x: int) -> int:
        return 3 * x

    assert [double(1), triple(1), double(1), triple(1)] == [2, 3, 2, 3]


def test_a_result_is_computed_once_for_all_who_want_it() -> None:
    calls, go_on = [], threading.Event()

    @kept(key=len)
    def slow(given: list[int]) -> list[int]:
        calls.append(given)
        go_on.wait(20)
        return given

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(slow, [1, 2]) for _ in range(8)]
        go_on.set()
        assert len({id(answer.result(20)) for answer in answers}) == 1
    assert len(calls) == 1


def test_one_may_be_computed_from_another() -> None:
    inner = kept()(lambda x: x + 1)
    outer = kept()(lambda x: inner(x) * 10)
    assert outer(1) == 20
    assert len(RESULTS.results) == 2


def test_attention_is_weighed_with_all_its_heads() -> None:
    scene = Scene(False, "the keys to the cabinet are on the table")
    table = pc.create("sinusoidal", embed_dim=384)
    terms = split(scene, table, 1.0)
    n = len(inputs(scene).tokens)
    assert weigh(terms) >= 4 * 12 * n * n * 8
    assert RESULTS.size >= weigh(terms) + weigh(inputs(scene))
    # All scenes share the drawn projections, 1.8 MB.
    other = inputs(Scene(False, "another sentence"))
    assert other.projections is inputs(scene).projections
    assert weigh(other) < 50 * KILOBYTE


def test_a_table_weighs_its_rows() -> None:
    table = PositionTable(weight=torch.zeros(512, 384), name="t", source="s")
    assert weigh(table) >= 512 * 384 * 4
