"""Matrices and pictures that sessions share: the core's own numbers, bounded, computed once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from pages._ui.server import installed_model, matrices, pictures
from pages._ui.server.kept import RESULTS
from pages._ui.server.matrices import MATRICES
from pages._ui.server.pictures import PICTURES
from pages._ui.server.setting import RandomTokens, SentenceTokens, Setting
from pages._ui.server.store import weigh
from posembed_core.pictures.resolution import Span
from posembed_core.tokens.sentence_model import HOW_TO_GET_A_MODEL

SLUGS = list(pc.encodings())
STORES = (MATRICES, PICTURES, RESULTS)
TEXT = "The keys to the cabinet are on the table."


def empty_caches() -> None:
    for store in STORES:
        store.clear()


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Every test starts and ends with empty caches."""
    empty_caches()
    yield
    empty_caches()


def setting(slug: str, length: int = 20, dimension: int = 8, **more: Any) -> Setting:
    cls = pc.encodings()[slug]
    by_role = {"length": length, "dimension": dimension}
    sizes = {n: by_role[p.role] for n, p in cls.parameters().items() if p.role in by_role}
    return Setting(
        source=more.pop("source", RandomTokens()),
        length=length,
        dimension=dimension,
        encoding=pc.create(slug, **sizes),
        **more,
    )


def own_table(**more: Any) -> Setting:
    """The sentence in its model, with the model's own table."""
    model = installed_model.needed_model()
    return Setting(
        source=SentenceTokens(TEXT), length=model.max_seq_len, dimension=model.embed_dim,
        encoding=model.positions, **more,
    )  # fmt: skip


# --- equal to the core ---


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("length", [1, 20, 64, 65])
def test_a_picture_is_the_cores(slug: str, length: int) -> None:
    asked = setting(slug, length)
    frame = pictures.picture(asked).preview.frame(0.7)
    c = pc.combine(pc.random_tokens(length, 8), asked.encoding, scale=0.7)
    torch.testing.assert_close(frame.cells("token"), c.token, rtol=0, atol=0)
    torch.testing.assert_close(frame.cells("combined"), c.combined)
    torch.testing.assert_close(frame.norms.combined, c.norms().combined, rtol=1e-6, atol=1e-6)


@given(
    length=st.integers(1, 70), other=st.integers(1, 70),
    seed=st.integers(0, 2**32 - 1), skip=st.integers(0, 30),
)  # fmt: skip
@settings(max_examples=25)
def test_a_matrix_of_another_length_has_the_same_rows(
    length: int, other: int, seed: int, skip: int
) -> None:
    source = RandomTokens(seed, 0.5, skip)
    for n in (other, length):
        tokens = matrices.token_matrix(setting("learned", n, source=source))
        assert torch.equal(tokens, pc.random_tokens(n, 8, seed=seed, skip=skip))
        encoding = pc.create("learned", max_seq_len=n, embed_dim=8, seed=seed)
        assert isinstance(encoding, pc.AdditiveEncoding)
        rows = matrices.position_rows(encoding, n, Span(0, n))
        assert torch.equal(rows, encoding.table(range(n)))


def test_what_is_not_shown_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []
    cls = pc.encodings()["sinusoidal"]
    table = cls.table  # type: ignore[attr-defined]

    def counted(self: Any, positions: Any, *more: Any) -> torch.Tensor:
        computed.append(len(positions))
        answer: torch.Tensor = table(self, positions, *more)
        return answer

    monkeypatch.setattr(cls, "table", counted)
    shown = pictures.picture(setting("sinusoidal", 8192, 22))
    shown.preview.frame(1.0)
    shown.preview.frame(0.5)
    assert computed == [512]
    shown.preview.exact(5000, 1.0)
    assert computed == [512, 1]


@pytest.mark.parametrize("dimension", [2, 7, 4096])
def test_the_root_of_the_dimension_multiplies_the_tokens(dimension: int) -> None:
    asked = setting("sinusoidal", 5, dimension, sqrt_dim=True)
    c = pc.combine(pc.random_tokens(5, dimension), asked.encoding, sqrt_dim=True)
    frame = pictures.picture(asked).preview.exact(3, 1.0)
    torch.testing.assert_close(frame.token[0], c.token[3], rtol=3e-7, atol=0)


def test_a_sentence_is_the_models() -> None:
    model = installed_model.needed_model()
    sentence = model.tokenize(TEXT)
    assert installed_model.sentence(TEXT) == sentence
    asked = own_table(layer_norm=True)
    assert matrices.token_count(asked) == len(sentence.ids)
    norm = model.layer_norm
    assert norm is not None
    c = pc.combine(model.embed(sentence), model.positions, layer_norm=norm)
    rows = pictures.picture(asked).preview.exact(4, 1.0)
    torch.testing.assert_close(rows.combined[0], c.combined[4])


def test_a_concatenation_normalises_without_the_models_narrow_weights() -> None:
    asked = own_table(layer_norm=True, operation="concat")
    rows = pictures.picture(asked).preview.exact(4, 1.0)
    mean, deviation = rows.combined[0].mean(), rows.combined[0].std(correction=0)
    assert (float(mean), float(deviation)) == pytest.approx((0.0, 1.0), abs=1e-2)


def test_packed_cells_are_the_frames() -> None:
    shown = pictures.picture(setting("sinusoidal"))
    frame = shown.preview.frame(1.0)
    packed = shown.pack(frame)
    assert packed.keys() == frame.arrays.keys()
    # Dimensions are rows, positions columns.
    assert all(packed[name].shape == tuple(cells.T.shape) for name, cells in frame.arrays.items())
    values = np.frombuffer(packed["token"].data[-4 * 160 :], "<f4").reshape(8, 20)
    np.testing.assert_array_equal(values, frame.cells("token").T.numpy())


def test_an_array_that_stays_is_packed_once() -> None:
    shown = pictures.picture(setting("sinusoidal", operation="concat"))
    first, second = (shown.pack(shown.preview.frame(scale)) for scale in (1.0, 2.0))
    assert second["token"] is first["token"]
    assert second["position"] is first["position"]
    assert second["combined"] is not first["combined"]


# --- bounded ---


def test_matrices_stay_within_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MATRICES.limit == 768 * 2**20
    for seed in range(30):
        matrices.token_matrix(setting("none", 2048, 1024, source=RandomTokens(seed)))
        held = sum(m.untyped_storage().nbytes() for m in MATRICES.results.values())
        assert held == MATRICES.size <= MATRICES.limit
        if seed == 3:  # the real bound would hold 90 of these
            monkeypatch.setattr(MATRICES.results, "_Cache__maxsize", 5 * 2**23)
    assert len(MATRICES.results) == 5


def test_a_matrix_beyond_the_bound_is_shown_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MATRICES.results, "_Cache__maxsize", 1000)
    tokens = matrices.token_matrix(setting("none", 100, 64))
    assert torch.equal(tokens, pc.random_tokens(100, 64))
    assert MATRICES.size == 0


@pytest.mark.parametrize(
    ("slug", "more"),
    [
        ("sinusoidal", {}), ("sinusoidal", {"operation": "multiply"}),
        ("sinusoidal", {"operation": "concat"}), ("learned", {"layer_norm": True}),
        ("rope", {}), ("alibi", {}), ("shaw", {"layer_norm": True}),
    ],
)  # fmt: skip
def test_a_picture_holds_no_more_than_it_counts_for(slug: str, more: dict[str, Any]) -> None:
    asked = setting(slug, 2048, 512, **more)
    shown = pictures.picture(asked)
    for scale in (1.0, 0.5):
        shown.pack(shown.preview.frame(scale))
    assert 100_000 < weigh(shown) <= PICTURES.size


def test_pictures_stay_within_their_bytes() -> None:
    for seed in range(80):  # of 2.4 MB each, once they have been read
        pictures.picture(setting("none", 512, 256, source=RandomTokens(seed)))
    assert PICTURES.size <= PICTURES.limit == 128 * 2**20
    assert 50 < len(PICTURES.results) < 80


def test_what_was_evicted_comes_back_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = setting("learned", 100, 64)
    first = pictures.picture(asked)
    frame = first.preview.frame(0.3)
    monkeypatch.setattr(MATRICES.results, "_Cache__maxsize", 100_000)
    monkeypatch.setattr(PICTURES.results, "_Cache__maxsize", 2_000_000)
    for seed in range(70):
        pictures.picture(setting("learned", 100, 64, source=RandomTokens(seed))).preview.frame(1.0)
    again = pictures.picture(asked)
    assert again is not first
    for picture in ("token", "position", "combined"):
        assert torch.equal(again.preview.frame(0.3).cells(picture), frame.cells(picture))


# --- shared ---


def at_once(ask: Callable[[], Any], count: int = 6) -> list[Any]:
    """The answers to equal requests that begin together."""
    gate = threading.Barrier(count)

    def wait_and_ask(_: int) -> Any:
        gate.wait(20)
        return ask()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(wait_and_ask, range(count)))


def counted(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[int]:
    """Make a function of a module slow, and count its calls."""
    calls: list[int] = []
    real = getattr(module, name)

    def slow(*args: Any, **more: Any) -> Any:
        calls.append(1)
        time.sleep(0.2)  # long enough for all the others to arrive
        return real(*args, **more)

    monkeypatch.setattr(module, name, slow)
    return calls


def test_equal_matrices_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, matrices, "random_tokens")
    asked = setting("none", 64, 8)
    answers = at_once(lambda: matrices.token_matrix(asked))
    assert len(calls) == 1
    assert len({answer.data_ptr() for answer in answers}) == 1


def test_equal_pictures_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, pictures, "Preview")
    answers = at_once(lambda: pictures.picture(setting("sinusoidal")))
    assert len(calls) == 1
    assert all(answer is answers[0] for answer in answers)


def test_the_model_is_opened_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = installed_model.model_folder()
    assert installed is not None
    copy = tmp_path / "linked"
    copy.symlink_to(installed)
    monkeypatch.setenv("POSEMBED_MODEL", str(copy))
    calls = counted(monkeypatch, installed_model, "load_model")
    answers = at_once(installed_model.model)
    assert len(calls) == 1
    assert all(answer is answers[0] for answer in answers)


def test_other_requests_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    # One matrix is held up until another one has been drawn: a lock over all would never end.
    drawn = threading.Event()
    real = matrices.random_tokens

    def held_up(n: int, d: int, **more: Any) -> torch.Tensor:
        if more["seed"] == 1:
            assert drawn.wait(20)
        return real(n, d, **more)

    monkeypatch.setattr(matrices, "random_tokens", held_up)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(matrices.token_matrix, setting("none", source=RandomTokens(1)))
        quick = pool.submit(matrices.token_matrix, setting("none", source=RandomTokens(2)))
        quick.result(20)
        drawn.set()
        assert torch.equal(slow.result(20), real(20, 8, seed=1))


def test_a_failure_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = setting("none", 33, 8)
    with monkeypatch.context() as broken:
        broken.setattr(matrices, "random_tokens", lambda *_, **__: 1 / 0)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                matrices.token_matrix(asked)
    assert matrices.token_matrix(asked).shape == (33, 8)


def test_reading_a_picture_changes_no_shared_matrix() -> None:
    asked = [setting(slug, 30, 8, layer_norm=norm) for slug in SLUGS for norm in (False, True)]
    for each in asked:
        pictures.picture(each).preview.frame(0.7)
    before = {key: matrix.clone() for key, matrix in MATRICES.results.items()}
    for each in asked:
        pictures.picture(each).preview.frame(3.0)
        pictures.picture(each).preview.exact(5, 3.0)
    assert all(torch.equal(before[key], matrix) for key, matrix in MATRICES.results.items())


def test_settings_that_differ_are_different_pictures() -> None:
    many = [
        setting("sinusoidal"), setting("sinusoidal", 21), setting("sinusoidal", 20, 10),
        setting("sinusoidal", operation="multiply"), setting("sinusoidal", layer_norm=True),
        setting("sinusoidal", sqrt_dim=True), setting("alibi"), setting("alibi", head=1),
        setting("sinusoidal", window=(1.0, 5.0, None, None)), setting("none"),
        setting("sinusoidal", source=RandomTokens(7)),
        setting("sinusoidal", source=RandomTokens(123, 0.6)),
        setting("sinusoidal", source=RandomTokens(123, 0.5, 1)),
    ]  # fmt: skip
    assert len({id(pictures.picture(asked)) for asked in many}) == len(many)


# --- errors ---


@pytest.mark.parametrize("slug", ["learned", "sinusoidal", "rope", "alibi", "shaw"])
def test_a_sentence_is_cut_at_the_length(slug: str) -> None:
    whole = len(installed_model.sentence(TEXT).ids)
    rows = {
        length: pictures.picture(setting(slug, length, 384, source=SentenceTokens(TEXT)))
        .preview.at(1.0).rows(slice(0, 4)).token
        for length in (4, whole, 100)
    }  # fmt: skip
    assert [len(token) for token in rows.values()] == [4, 4, 4]
    # What is left is what it was.
    assert torch.equal(rows[4], rows[whole])
    assert torch.equal(rows[4], rows[100])


def test_a_sentence_beyond_the_models_table_names_both_numbers() -> None:
    asked = setting("sinusoidal", 1000, 384, source=SentenceTokens("a " * 600))
    with pytest.raises(pc.CheckpointError, match=r"602 tokens.* 512 rows"):
        pictures.picture(asked).preview.frame(1.0)


def test_a_sentence_without_tokens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from posembed_core.tokens.sentence_model import Sentence

    monkeypatch.setattr(matrices, "sentence", lambda _: Sentence((), ()))
    for slug in ("sinusoidal", "learned", "rope", "alibi", "shaw"):
        with pytest.raises(pc.CheckpointError, match="no tokens"):
            pictures.picture(setting(slug, 4, 384, source=SentenceTokens(" ")))


def test_without_a_model_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_model, "model", lambda: None)
    assert installed_model.model_problem() == HOW_TO_GET_A_MODEL
    with pytest.raises(pc.CheckpointError):
        installed_model.needed_model()


def test_a_model_that_cannot_be_read_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POSEMBED_MODEL", str(tmp_path / "nowhere"))
    problem = installed_model.model_problem()
    assert "'nowhere' has no config.json" in problem
    assert HOW_TO_GET_A_MODEL in problem


def test_the_first_visitors_picture_is_ready() -> None:
    pictures.preload()
    before = [len(store.results) for store in STORES]
    assert before[1] == 1
    shown = pictures.picture(
        Setting(RandomTokens(), 128, 64, pc.create("sinusoidal", embed_dim=64))
    )
    assert shown._packed
    assert [len(store.results) for store in STORES] == before
