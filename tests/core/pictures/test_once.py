"""Values computed once for all threads, without blocking others, and not again during a drag."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import torch

import posembed_core as pc
from posembed_core.norms import row_norms
from posembed_core.pictures.once import Once
from posembed_core.pictures.preview import Preview
from posembed_core.pictures.resolution import Span

LENGTH, DIM = 40, 8


def test_many_threads_get_one_computation() -> None:
    once, calls, together = Once(), [], threading.Barrier(8)

    def ask(_: int) -> object:
        together.wait(10)
        return once("x", lambda: calls.append(1) or object())

    with ThreadPoolExecutor(8) as threads:
        values = set(threads.map(ask, range(8)))
    assert len(values) == len(calls) == 1


def test_one_busy_instance_keeps_no_other_waiting() -> None:
    started, go_on = threading.Event(), threading.Event()

    def slowly() -> str:
        started.set()
        assert go_on.wait(10)
        return "slow"

    slow = threading.Thread(target=lambda: Once()("x", slowly))
    slow.start()
    assert started.wait(10)
    assert Once()("x", lambda: "quick") == "quick"
    go_on.set()
    slow.join(10)


def test_a_failed_computation_is_tried_again() -> None:
    once = Once()
    with pytest.raises(ZeroDivisionError):
        once("x", lambda: 1 // 0)
    assert once("x", lambda: 5) == 5


def test_a_bounded_cache_forgets() -> None:
    once = Once(most=3)
    for i in range(4):
        assert once(i, lambda i=i: i) == i
    assert once(0, lambda: "again") == "again"
    assert once(3, lambda: "again") == 3


@pytest.mark.parametrize("operation", ["add", "multiply"])
def test_a_dragged_scale_asks_for_no_whole_matrix(operation: str) -> None:
    asked = []
    encoding = pc.create("sinusoidal", embed_dim=DIM)

    def tokens() -> torch.Tensor:
        asked.append("tokens")
        return pc.random_tokens(LENGTH, DIM)

    def vectors(shown: Span) -> torch.Tensor:
        asked.append("vectors")
        return encoding.table(shown.indices)

    preview = Preview((LENGTH, DIM), tokens, encoding, vectors, operation=operation)
    preview.frame(1.0)
    for row in (0, 5, 9):
        preview.exact(row, 1.0)
    asked.clear()
    for scale in (0.0, 0.5, 2.0):
        preview.frame(scale)
        for row in (0, 5, 9):
            whole = pc.combine(pc.random_tokens(LENGTH, DIM), encoding, None, scale, operation)
            assert torch.equal(preview.exact(row, scale).combined[0], whole.combined[row])
    assert asked == []


@pytest.mark.parametrize("slug", ["sinusoidal", "rope"])
def test_whole_matrices_are_asked_for_under_the_guard_only(slug: str) -> None:
    inside = [0]

    @contextmanager
    def guard():
        assert inside[0] == 0, "a guard within a guard may wait for itself"
        inside[0] += 1
        yield
        inside[0] -= 1

    def matrix() -> torch.Tensor:
        assert inside[0] == 1
        return torch.ones(LENGTH, DIM)

    dim = "head_dim" if slug == "rope" else "embed_dim"
    encoding = pc.create(slug, **{dim: DIM})
    preview = Preview((LENGTH, DIM), matrix, encoding, lambda s: matrix()[: s.cells], guard=guard)
    preview.frame(1.0)
    preview.frame(2.0)
    preview.exact(3, 1.0)
    preview.exact_rows(slice(2, 5), 1.0)


@pytest.mark.parametrize("shape", [(1, 1), (128, 64), (300, 1000), (3, 70_000), (65_537, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_norms_of_rows_in_pieces_are_those_of_the_whole(
    shape: tuple[int, int], dtype: torch.dtype
) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    expected = matrix.double().square().sum(dim=1).sqrt()
    torch.testing.assert_close(row_norms(matrix), expected, rtol=1e-13, atol=0)
    torch.testing.assert_close(row_norms(matrix.T.contiguous().T), expected, rtol=1e-13, atol=0)


def test_norms_of_no_rows_and_of_rows_with_a_gradient() -> None:
    assert row_norms(torch.empty(0, 5)).shape == (0,)
    assert row_norms(torch.empty(3, 0)).tolist() == [0, 0, 0]
    matrix = torch.full((200, 400), 2.0, requires_grad=True)
    row_norms(matrix).sum().backward()
    torch.testing.assert_close(matrix.grad, torch.full((200, 400), 0.05))
