"""A class shares one training run; others wait their turn; a run that nobody watches pauses."""

import os
import sys
import threading
import time

import pytest
import torch

import posembed_core as pc
from pages._ui.server.training_queue import TooManyRunsError, TrainingQueue
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
    queue = TrainingQueue(train=lessons, clock=clock, patience=10, most_waiting=2)
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


def test_different_runs_wait_in_order_and_say_so(runs, lessons):
    assert runs.watch(spec(1), "a").status == "running"
    second, third = runs.watch(spec(2), "b"), runs.watch(spec(3), "c")
    assert (second.status, second.ahead) == ("waiting", 1)
    assert (third.status, third.ahead) == ("waiting", 2)
    lessons.allow(1, 11)
    finish(runs, spec(1))
    assert runs.look(spec(3)).ahead == 1
    assert lessons.started == [1, 2, 3]


def test_the_queue_is_bounded(runs):
    for seed in (1, 2, 3):
        runs.watch(spec(seed), f"session {seed}")
    with pytest.raises(TooManyRunsError, match="2 trainings wait already; try again"):
        runs.watch(spec(4), "late")
    assert runs.look(spec(4)) is None
    assert runs.watch(spec(3), "a friend of session 3").ahead == 2
    runs.leave("session 2")
    assert runs.watch(spec(4), "late").ahead == 2


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
    assert runs.watch(spec(2), "a").ahead == 0
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
    with pytest.raises(TooManyRunsError, match="shutting down"):
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
        runs.watch(spec(seed), f"watcher {seed}")
    assert runs.load() == {"running": 1, "waiting": 2}
    runs.leave("watcher 3")
    assert runs.load() == {"running": 1, "waiting": 1}
