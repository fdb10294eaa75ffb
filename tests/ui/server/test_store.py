"""A store: computes each result once for all sessions, stays within its bytes, tells its size."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pages._ui.bounds import share
from pages._ui.server import store as module
from pages._ui.server.store import Store, held_bytes


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store[bytes]:
    """A store that is forgotten after the test."""
    monkeypatch.setattr(module, "_reported", {})
    return Store("films", len)


def test_a_store_has_its_share_and_tells_its_size(store: Store[bytes]) -> None:
    double = store.keep()(lambda text: 2 * text)
    assert store.limit == share("films")
    assert held_bytes() == {"films": 0}
    assert double(b"four") is double(b"four")
    assert held_bytes() == {"films": 8} == {store.name: store.size}
    store.clear()
    assert held_bytes() == {"films": 0}


def test_a_store_without_a_share_cannot_be() -> None:
    with pytest.raises(KeyError):
        Store("more")


def test_what_was_unused_for_longest_leaves_first(
    store: Store[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.results, "_Cache__maxsize", 25)
    calls: list[int] = []

    @store.keep()
    def ten(number: int) -> bytes:
        calls.append(number)
        return bytes(10)

    for number in (1, 2, 1, 3, 1, 2):
        ten(number)
    assert calls == [1, 2, 3, 2]
    assert store.size == 20
    assert store.keep()(lambda: bytes(26))() == bytes(26)
    assert store.size == 20, "what is larger than the store is given and not kept"


def test_functions_with_equal_arguments_keep_results_of_their_own(store: Store[bytes]) -> None:
    first = store.keep()(lambda n: b"a" * n)
    second = store.keep()(lambda n: b"b" * n)
    assert (first(3), second(3), first(3)) == (b"aaa", b"bbb", b"aaa")


def test_an_error_reaches_all_who_waited_and_is_not_kept(store: Store[bytes]) -> None:
    working, go_on = threading.Event(), threading.Event()
    broken = True

    @store.keep()
    def fragile() -> bytes:
        working.set()
        assert go_on.wait(20)
        if broken:
            raise ZeroDivisionError
        return b"whole"

    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(fragile) for _ in range(3)]
        assert working.wait(20)
        go_on.set()
        assert all(isinstance(answer.exception(20), ZeroDivisionError) for answer in answers)
    assert store.size == 0
    broken = False
    assert fragile() == b"whole"


def test_equal_requests_wait_and_other_requests_do_not(store: Store[bytes]) -> None:
    calls: list[int] = []
    other_done = threading.Event()

    @store.keep()
    def slow(number: int) -> bytes:
        calls.append(number)
        assert number == 2 or other_done.wait(20)
        return bytes(number)

    with ThreadPoolExecutor(5) as pool:
        same = [pool.submit(slow, 1) for _ in range(4)]
        assert pool.submit(slow, 2).result(20) == bytes(2)
        other_done.set()
        assert len({id(answer.result(20)) for answer in same}) == 1
    assert sorted(calls) == [1, 2]
