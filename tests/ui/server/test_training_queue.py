"""A class shares one training run; visitors take turns; a run that nobody watches pauses."""

import os
import sys
import threading
import time

import pytest
import torch

import posembed_core as pc
from pages._ui.server.training_queue import ClosedError, TrainingQueue
from pages._ui.server.training_run import Run
from posembed_core.training.training import Snapshot, Trainer, unfinished_bytes

SPEC = pc.TrainingSpec(max_seq_len=16, embed_dim=8, num_tokens=4, batch_size=2, steps=40)


def spec(seed):
    return pc.TrainingSpec(**{**vars(SPEC), "seed": seed})


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Lessons:
    """Stands in for training: counts runs, and gives a snapshot whenever the test allows one."""

    def __init__(self):
        self.started = []
        self.order = []  # the seed of each snapshot
        self.asked = 0
        self.gates = {}

    def __call__(self, spec):
        self.started.append(spec.seed)
        gate = self.gates.setdefault(spec.seed, threading.Semaphore(0))
        return self.snapshots(spec, gate)

    def snapshots(self, spec, gate):
        for step in range(0, spec.steps + 1, spec.snapshot_every):
            self.asked += 1
            gate.acquire()
            self.order.append(spec.seed)
            yield Snapshot(step, torch.zeros(16, 8), 1.0 - step / 100, torch.zeros(8, 8))

    def allow(self, seed, count):
        self.gates[seed].release(count)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lessons():
    return Lessons()


@pytest.fixture
def runs(lessons, clock):
    queue = TrainingQueue(train=lessons, clock=clock, patience=10)
    yield queue
    for seed in lessons.gates:
        lessons.allow(seed, 1000)
    queue.close()


def until(runs, which, condition):
    deadline = time.monotonic() + 60
    while not condition(state := runs.look(which)):
        assert time.monotonic() < deadline, f"it stayed at {state}"
        runs.wait(which, 0.05)
        time.sleep(0.001)  # nobody waits for a paused run, but it still has a step to finish
    return state


def begin(runs, lessons, seed):
    """Visit, and wait until the worker is at the first snapshot."""
    state = runs.watch(spec(seed), f"visitor {seed}")
    until(runs, spec(seed), lambda _: lessons.asked == 1)
    return state


def finish(runs, which):
    return until(runs, which, lambda state: state.status == "finished")


def test_twenty_watchers_cost_one_run():
    calls = []

    def train(which):
        calls.append(which)
        return pc.train_table(which)

    runs = TrainingQueue(train=train)
    barrier = threading.Barrier(20)

    def session(number):
        barrier.wait()
        runs.watch(pc.TrainingSpec(**vars(SPEC)), f"session {number}")

    threads = [threading.Thread(target=session, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = finish(runs, SPEC)
    runs.close()
    assert calls == [SPEC]
    assert [s.step for s in state.snapshots] == list(range(0, 41, 4))
    *_, alone = pc.train_table(SPEC)
    assert torch.equal(state.snapshots[-1].weight, alone.weight)


def test_snapshots_are_readable_while_it_runs(runs, lessons):
    assert runs.look(SPEC) is None
    assert runs.watch(SPEC, "a").status == "running"
    lessons.allow(42, 3)
    state = until(runs, SPEC, lambda s: len(s.snapshots) == 3)
    assert (state.status, state.step) == ("running", 8)
    assert state.seconds_left > 0
    lessons.allow(42, 8)
    state = finish(runs, SPEC)
    assert (state.step, state.seconds_left) == (40, 0)


def test_sixty_visitors_take_turns_snapshot_by_snapshot(runs, lessons):
    # 60 students with seeds of their own: 43 were refused.
    seeds = range(60)
    begin(runs, lessons, 0)
    for seed in seeds:
        assert runs.watch(spec(seed), f"visitor {seed}").status == "running"
    assert runs.load() == {"running": 60, "waiting": 0}
    for seed in seeds:
        lessons.allow(seed, 11)
    for seed in seeds:
        assert len(finish(runs, spec(seed)).snapshots) == 11
    assert lessons.order == [0, *[*seeds] * 10, *seeds[1:]]  # at first 0 was alone


def test_a_visitor_of_seventeen_tabs_has_one_turn_in_each_round(runs, lessons):
    # They blocked everybody for an hour and a half.
    tabs, student = range(17), 99
    for seed in tabs:
        runs.watch(spec(seed), f"tab {seed}", visitor="seventeen tabs")
    state = runs.watch(spec(student), "student")
    assert (state.status, state.others) == ("running", 1)
    waiting = [runs.look(spec(seed)) for seed in tabs[1:]]
    assert [state.place for state in waiting] == [*range(1, 17)]
    assert {(state.status, state.waits_for_own) for state in waiting} == {("waiting", True)}
    for seed in (student, *tabs):
        lessons.allow(seed, 11)
    finish(runs, spec(student))
    assert lessons.order[:22].count(student) >= 10
    for seed in tabs:  # one after the other, each by itself
        finish(runs, spec(seed))
    alone = [seed for seed in lessons.order if seed != student]
    assert alone == [seed for seed in tabs for _ in range(11)]


def test_the_turn_is_the_visitors_not_the_runs(runs, lessons):
    # A popular seed in somebody's second tab doesn't wait for the first one.
    runs.watch(spec(1), "tab 1", visitor="a")
    assert runs.watch(spec(2), "tab 2", visitor="a").status == "waiting"
    assert runs.watch(spec(2), "b's tab", visitor="b").status == "running"
    runs.leave("b's tab")
    assert runs.look(spec(2)).waits_for_own
    runs.leave("tab 1")
    assert runs.look(spec(2)).status == "running"


def test_who_comes_later_is_no_sooner_served(runs, lessons):
    begin(runs, lessons, 1)
    runs.watch(spec(2), "visitor 2")
    lessons.allow(1, 3)
    lessons.allow(2, 2)
    until(runs, spec(2), lambda _: lessons.asked == 6)  # 1's fourth
    runs.watch(spec(3), "newcomer")
    for seed in (1, 2, 3):
        lessons.allow(seed, 3)
    until(runs, spec(3), lambda state: len(state.snapshots) == 2)
    assert lessons.order[:11] == [1, 1, 2, 1, 2, 1, 2, 1, 3, 2, 1]


def test_those_who_find_no_room_wait_and_go_on_by_themselves(lessons, clock):
    room = Run(SPEC, lessons(SPEC)).most_bytes
    runs = TrainingQueue(train=lessons, clock=clock, most_bytes=2 * room)
    seeds = range(1, 8)
    for seed in seeds:
        runs.watch(spec(seed), f"visitor {seed}")
    states = [runs.look(spec(seed)) for seed in seeds]
    assert [state.status for state in states] == ["running"] * 2 + ["waiting"] * 5
    assert [state.place for state in states] == [0, 0, 1, 2, 3, 4, 5]
    assert not any(state.waits_for_own for state in states)
    assert runs.watch(spec(7), "a friend").place == 5
    runs.leave("visitor 4")  # who waits no more
    assert [runs.look(spec(seed)).place for seed in (3, 5, 6, 7)] == [1, 2, 3, 4]
    for seed in seeds:
        lessons.allow(seed, 11)
    for seed in (1, 2, 3, 5, 6, 7):  # with nobody asking anew
        finish(runs, spec(seed))
        assert runs.held_bytes() <= 2 * room
        for watcher in (f"visitor {seed}", "a friend"):
            runs.leave(watcher)
    last = [len(lessons.order) - lessons.order[::-1].index(seed) for seed in (1, 2, 3, 5, 6, 7)]
    assert last == sorted(last)
    runs.close()


def test_a_visitor_who_has_had_a_turn_leaves_the_next_room_to_others(lessons, clock):
    runs = TrainingQueue(train=lessons, clock=clock, most_bytes=Run(SPEC, lessons(SPEC)).most_bytes)
    for seed in (1, 2, 3):
        runs.watch(spec(seed), f"tab {seed}", visitor="many tabs")
    state = runs.watch(spec(4), "student")
    assert (state.place, state.waits_for_own) == (1, False)
    for seed in (1, 2, 3, 4):
        lessons.allow(seed, 11)
    for seed in (4, 2):
        finish(runs, spec(seed))
    assert lessons.order[:33] == [*[1] * 11, *[4] * 11, *[2] * 11]
    runs.close()


def test_a_result_is_there_until_it_has_been_seen(lessons, clock):
    # Else the page that watches it would ask for it again, and train for ever.
    runs = TrainingQueue(train=lessons, clock=clock, most_bytes=1)
    for seed in (1, 2):
        runs.watch(spec(seed), f"visitor {seed}")
        lessons.allow(seed, 11)
    finish(runs, spec(2))
    assert runs.watch(spec(1), "visitor 1").status == "finished"
    runs.watch(spec(3), "visitor 1")  # who sees something else now
    assert runs.look(spec(1)) is None
    assert lessons.started == [1, 2, 3]
    lessons.allow(3, 11)
    runs.close()


def test_a_small_run_does_not_overtake_a_large_one_for_ever(lessons, clock):
    large = pc.TrainingSpec(**{**vars(SPEC), "embed_dim": 256, "max_seq_len": 256, "seed": 2})
    room = Run(large, lessons(large)).most_bytes
    runs = TrainingQueue(train=lessons, clock=clock, most_bytes=room)
    runs.watch(spec(1), "a")
    assert runs.watch(large, "b").place == 1
    assert runs.watch(spec(3), "c").place == 2
    runs.leave("a")
    assert runs.look(large).status == "running"
    for seed in (1, 2, 3):
        lessons.allow(seed, 11)
    finish(runs, large)
    finish(runs, spec(3))
    runs.close()


def test_the_time_left_counts_the_turns_of_others(runs, lessons):
    begin(runs, lessons, 1)
    runs.watch(spec(2), "visitor 2")
    lessons.allow(1, 3)
    lessons.allow(2, 2)
    until(runs, spec(2), lambda _: lessons.asked == 6)
    first, second = (runs._runs[spec(seed)] for seed in (1, 2))
    first.seconds, second.seconds = 3 * 1.0, 2 * 10.0  # 8 snapshots and 9 are still to come
    assert [runs.look(spec(seed)).seconds_left for seed in (1, 2)] == [8 * 11.0, 8 * 11.0 + 10.0]
    runs.watch(spec(2), "visitor 2", until=12)  # two more
    assert runs.look(spec(1)).seconds_left == 8 * 1.0 + 2 * 10.0
    runs.leave("visitor 2")
    assert runs.look(spec(1)).seconds_left == 8 * 1.0


def test_a_run_pauses_when_nobody_watches_and_goes_on_from_there(runs, lessons, clock):
    runs.watch(SPEC, "a")
    lessons.allow(42, 2)
    # The worker checks that somebody watches before it asks for the next one.
    until(runs, SPEC, lambda s: s.step == 4 and lessons.asked == 3)
    clock.now = 10.5  # a closed tab is not heard of again
    lessons.allow(42, 1)
    state = until(runs, SPEC, lambda s: s.step == 8)
    assert state.status == "paused"
    lessons.allow(42, 3)
    assert runs.wait(SPEC, 0.1).step == 8
    runs.watch(SPEC, "b")
    assert until(runs, SPEC, lambda s: s.step == 20).status == "running"
    assert lessons.started == [42]


def test_being_heard_of_again_keeps_a_run_going(runs, lessons, clock):
    runs.watch(SPEC, "a")
    for second in range(0, 40, 8):
        clock.now = second
        assert runs.watch(SPEC, "a").status == "running"
    lessons.allow(42, 11)
    finish(runs, SPEC)


def test_one_step_at_a_time(runs, lessons):
    runs.watch(SPEC, "a", until=0)
    lessons.allow(42, 11)
    assert until(runs, SPEC, lambda s: s.status == "paused").step == 0
    runs.watch(SPEC, "a", until=4)
    assert until(runs, SPEC, lambda s: s.status == "paused" and s.step > 0).step == 4
    runs.watch(SPEC, "b", until=12)
    assert until(runs, SPEC, lambda s: s.status == "paused" and s.step > 4).step == 12
    assert runs.watch(SPEC, "a", until=8).status == "paused"


def test_taking_other_settings_leaves_the_first_run(runs, lessons):
    runs.watch(spec(1), "a")
    assert runs.watch(spec(2), "a").status == "running"
    lessons.allow(1, 1)
    lessons.allow(2, 11)
    finish(runs, spec(2))
    assert runs.look(spec(1)) is None  # it had no snapshot yet


def test_old_results_make_room_for_new_ones(lessons, clock):
    size = 11 * (16 * 8 + 8 * 8) * 4
    runs = TrainingQueue(train=lessons, clock=clock, most_bytes=2 * size + unfinished_bytes(SPEC))
    for seed in (1, 2, 1, 3):  # 2 was used longest ago when 3 comes
        runs.watch(spec(seed), "a")
        lessons.allow(seed, 11)
        finish(runs, spec(seed))
    assert [runs.look(spec(seed)) is not None for seed in (1, 2, 3)] == [True, False, True]
    assert lessons.started == [1, 2, 3]
    runs.close()


def test_paused_runs_make_room_too_with_the_models_they_hold(lessons, clock):
    held = unfinished_bytes(SPEC) + (16 * 8 + 8 * 8) * 4
    runs = TrainingQueue(train=lessons, clock=clock, most_bytes=2 * held)
    for seed in (1, 2, 3, 4):
        runs.watch(spec(seed), "a", 0)
        lessons.allow(seed, 1)
        until(runs, spec(seed), lambda s: s.snapshots)
    kept = [runs.look(spec(seed)) is not None for seed in (1, 2, 3, 4)]
    assert kept == [False, False, True, True]
    assert runs.held_bytes() == 2 * held
    runs.close()


@pytest.mark.parametrize(("length", "width"), [(128, 64), (256, 256)])
def test_what_a_paused_training_holds_is_not_underrated(length, width):
    training = Trainer(pc.TrainingSpec(max_seq_len=length, embed_dim=width))
    training.step(training.draw(16))
    model, states = training.model, training.optimiser.state.values()
    tensors = [training.held_out, training.weights, *model.parameters()]
    tensors += [parameter.grad for parameter in model.parameters()]
    tensors += [value for state in states for value in state.values()]
    held = sum(tensor.nbytes for tensor in tensors)
    assert held < unfinished_bytes(training.spec) < held + 3e6


def test_a_run_that_fails_is_reported_and_the_next_one_starts(clock, lessons, caplog):
    def train(which):
        if which.seed == 1:
            raise_later = RuntimeError("no memory left")

            def broken():
                yield Snapshot(0, torch.zeros(16, 8), 1.0, torch.zeros(8, 8))
                raise raise_later

            return broken()
        return lessons(which)

    runs = TrainingQueue(train=train, clock=clock)
    runs.watch(spec(1), "a")
    runs.watch(spec(2), "b")
    state = until(runs, spec(1), lambda s: s.status == "failed")
    assert state.error == "the training failed; try other settings"
    assert "no memory left" in caplog.text
    lessons.allow(2, 11)
    finish(runs, spec(2))
    runs.close()


def test_closing_ends_the_worker_and_keeps_what_is_known():
    # The app's own queue may have a worker that other tests have left at work.
    others = set(threading.enumerate())
    runs = TrainingQueue()
    long = pc.TrainingSpec(**{**vars(SPEC), "steps": 1000, "snapshot_every": 5})
    runs.watch(long, "a")
    until(runs, long, lambda s: len(s.snapshots) > 1)
    runs.close()
    assert not any(t.name == "training" for t in set(threading.enumerate()) - others)
    state = runs.look(long)
    assert state.status == "paused"
    assert 5 <= state.step < 1000
    with pytest.raises(ClosedError, match="shutting down"):
        runs.watch(long, "a")


def test_the_worker_gives_way_to_everybody_else():
    own = os.getpriority(os.PRIO_PROCESS, 0)
    seen = []

    def train(which):
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        yield from pc.train_table(which)

    runs = TrainingQueue(train=train)
    runs.watch(SPEC, "a")
    finish(runs, SPEC)
    runs.close()
    assert seen == [own + 5 if sys.platform == "linux" else own]
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


def test_the_load_counts_the_running_and_the_waiting(runs):
    assert runs.load() == {"running": 0, "waiting": 0}
    for seed in (1, 2, 3):
        runs.watch(spec(seed), f"watcher {seed}", visitor="one of them" if seed > 1 else "")
    assert runs.load() == {"running": 2, "waiting": 1}
    runs.leave("watcher 3")
    assert runs.load() == {"running": 2, "waiting": 0}


@pytest.mark.parametrize(("length", "width", "every"), [(16, 8, 4), (32, 64, 7), (8, 4, 40)])
def test_what_a_run_will_hold_is_known_before(length, width, every):
    which = pc.TrainingSpec(
        max_seq_len=length, embed_dim=width, steps=40, snapshot_every=every, batch_size=1
    )
    run = Run(which, pc.train_table(which))
    run.snapshots.extend(run.source)
    assert run.most_bytes == run.size + unfinished_bytes(which)
