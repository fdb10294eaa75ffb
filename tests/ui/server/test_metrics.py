"""The app's own metrics, read as a scraper of Streamlit's endpoint would."""

import threading

import pytest
from streamlit.runtime.stats import StatsManager

import posembed_core as pc
from pages._ui.live.counts import Counter, sent
from pages._ui.live.shelf import shelf
from pages._ui.server import metrics, store
from pages._ui.server.installed_model import sentence
from pages._ui.server.matrices import position_rows
from pages._ui.server.pictures import PICTURES
from pages._ui.server.store import weigh
from pages._ui.server.training_queue import RUNS, TrainingQueue
from pages._ui.table.film import _film_of
from posembed_core.pictures.resolution import Span
from posembed_core.training.training import TrainingSpec, train_table


def figures(*families: str) -> dict[str, float]:
    """Name with labels → value, through Streamlit's own manager."""
    manager = StatsManager()
    manager.register_provider(metrics.Metrics())
    families_read = manager.get_stats(list(families) or None)
    lines = [stat.to_metric_str() for stats in families_read.values() for stat in stats]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_frames_are_counted() -> None:
    before = figures("posembed_frames", "posembed_frame_bytes")
    sent.add(1000)
    sent.add(24)
    after = figures("posembed_frames", "posembed_frame_bytes")
    assert after["posembed_frames_total"] == before["posembed_frames_total"] + 2
    assert after["posembed_frame_bytes_total"] == before["posembed_frame_bytes_total"] + 1024


def test_no_frame_is_lost_between_threads() -> None:
    counter = Counter()
    threads = [
        threading.Thread(target=lambda: [counter.add(3) for _ in range(2000)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.total == (8000, 24000)


def test_cache_bytes_follow_what_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = TrainingQueue()
    monkeypatch.setitem(store._reported, "trainings", runs.held_bytes)
    encoding = pc.create("sinusoidal", embed_dim=34)
    before = figures("posembed_cache_bytes")
    position_rows(encoding, 64, Span(0, 64))
    asked = sentence("nobody else asks for this one")
    shelf.put("a test's array", bytes(4096))
    spec = TrainingSpec(max_seq_len=8, embed_dim=4, steps=2, snapshot_every=1, seed=4096)
    snapshots = list(train_table(spec))
    packs = _film_of(spec, snapshots)
    runs.watch(spec, "a test", 2)
    while (state := runs.wait(spec, 5)) is None or state.step < 2:
        pass
    runs.close()
    after = figures("posembed_cache_bytes")
    assert after['posembed_cache_bytes{cache="pictures"}'] == PICTURES.size
    grown = {name: after[name] - before[name] for name in after}
    assert grown == {
        'posembed_cache_bytes{cache="matrices"}': 64 * 34 * 4,
        'posembed_cache_bytes{cache="pictures"}': 0,
        'posembed_cache_bytes{cache="results"}': weigh(asked),
        'posembed_cache_bytes{cache="shelf"}': 4096,
        'posembed_cache_bytes{cache="trainings"}': sum(
            s.weight.nbytes + s.query_key.nbytes for s in snapshots
        ),
        'posembed_cache_bytes{cache="films"}': packs.size,
    }
    # Three pictures of three snapshots, as numbers and packed.
    assert packs.size > 3 * 4 * (4 * 8 + 8 * 8 + 8 * 8)


def test_trainings_are_counted_by_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUNS, "load", lambda: {"running": 1, "waiting": 4})
    assert figures("posembed_trainings") == {
        'posembed_trainings{state="running"}': 1,
        'posembed_trainings{state="waiting"}': 4,
    }


def test_a_process_reports_its_memory_where_the_system_tells_it() -> None:
    size = metrics.resident_bytes()
    assert size is None or 50e6 < size < 50e9
    assert len(figures("process_resident_memory_bytes")) == (size is not None)


def test_only_what_was_asked_for_is_read() -> None:
    provider = metrics.Metrics()
    assert set(provider.get_stats(["posembed_frames"])) == {"posembed_frames"}
    assert set(provider.get_stats()) == set(provider.stats_families)
