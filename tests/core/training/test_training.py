"""A table gets its structure from gradient descent alone, and the same one every time."""

import itertools

import pytest
import torch
from torch.nn.functional import cosine_similarity, softmax

import posembed_core as pc
from posembed_core.training.tasks import PERIOD, TASKS, task_weights, token_shares
from posembed_core.training.training import gradient_step, one_thread


def small(**fields):
    defaults = {"max_seq_len": 32, "embed_dim": 16, "num_tokens": 8, "batch_size": 8}
    return pc.TrainingSpec(**{**defaults, **fields})


def last(spec):
    *_, result = pc.train_table(spec)
    return result


def at_lag(weight, lag):
    return cosine_similarity(weight[lag:], weight[:-lag]).mean().item()


@pytest.fixture(scope="module")
def default_run():
    return list(pc.train_table(pc.TrainingSpec()))


def test_noise_becomes_neighbourhoods(default_run):
    first, result = default_run[0], default_run[-1]
    assert abs(at_lag(first.weight, 1)) < 0.05
    assert at_lag(result.weight, 1) >= 0.8
    assert result.loss < 0.25 < 0.6 < first.loss
    # Near rows are alike, far ones are not.
    assert at_lag(result.weight, 1) > at_lag(result.weight, 4) > at_lag(result.weight, 12)


def test_snapshots_are_evenly_spaced_and_of_their_own(default_run):
    assert [s.step for s in default_run] == list(range(0, 401, 4))
    assert len({s.weight.data_ptr() for s in default_run}) == len(default_run)
    assert not any(s.weight.requires_grad for s in default_run)
    assert [s.step for s in pc.train_table(small(steps=10, snapshot_every=4))] == [0, 4, 8, 10]


def test_the_first_snapshot_is_the_learned_table_at_that_seed(default_run):
    learned = pc.create("learned", max_seq_len=128, embed_dim=64, seed=42)
    assert torch.equal(default_run[0].weight, learned.table(torch.arange(128)))


def head(snapshot):
    attention = snapshot.attention()
    assert torch.allclose(attention.sum(dim=1), torch.ones(len(attention)))
    scores = torch.einsum("id,de,je->ij", snapshot.weight, snapshot.query_key, snapshot.weight)
    assert torch.allclose(attention, softmax(scores, dim=-1), atol=1e-5)
    return attention


def test_each_task_leaves_its_own_structure():
    runs = {task: last(small(task=task, steps=300)) for task in TASKS}
    shift = {task: head(run).diagonal(-1).mean().item() for task, run in runs.items()}
    anti = {task: head(run).flip(1).diagonal().mean().item() for task, run in runs.items()}
    eighth = {task: at_lag(run.weight, PERIOD) for task, run in runs.items()}
    near = {task: at_lag(run.weight, 1) for task, run in runs.items()}
    assert max(shift, key=shift.get) == "previous-token"
    assert shift["previous-token"] > 0.8
    assert max(anti, key=anti.get) == "reversed-copy"
    assert anti["reversed-copy"] > 0.8
    assert max(eighth, key=eighth.get) == "every-eighth"
    assert eighth["every-eighth"] > 0.7
    assert max(near, key=near.get) == "neighbourhood-average"
    assert all(run.loss < 0.5 for run in runs.values())


def test_two_runs_are_bit_identical_however_many_threads_there_are():
    spec = small(steps=40)
    first = last(spec)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads % 2 + 1)
    try:
        second = last(spec)
    finally:
        torch.set_num_threads(threads)
    assert first.weight.numpy().tobytes() == second.weight.numpy().tobytes()
    assert first.query_key.numpy().tobytes() == second.query_key.numpy().tobytes()
    assert first.loss == second.loss
    assert not torch.equal(first.weight, last(small(steps=40, seed=43)).weight)


def test_training_leaves_the_global_generator_and_thread_count_alone():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    run = pc.train_table(small(steps=8))
    next(run)
    assert torch.get_num_threads() == threads
    for _ in run:
        pass
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_num_threads() == threads
    with one_thread():
        assert torch.get_num_threads() == 1


def test_closing_the_generator_ends_the_run():
    run = pc.train_table(small(steps=1000, snapshot_every=5))
    assert [s.step for s in itertools.islice(run, 3)] == [0, 5, 10]
    run.close()
    assert list(run) == []


def test_rows_beyond_the_training_length_stay_noise():
    spec = small(seq_len=20, steps=40)
    result = last(spec)
    moved = (result.weight != spec.initial_table()).any(dim=1)
    assert moved.tolist() == [True] * 20 + [False] * 12


def test_a_step_moves_the_rows_that_were_looked_up_and_no_others():
    spec = small(seq_len=7)
    lesson = gradient_step(spec, start=11)
    rows = list(range(11, 18))
    assert lesson.looked_up.tolist() == rows
    assert lesson.moved.tolist() == rows
    assert lesson.grad.any(dim=1).nonzero().flatten().tolist() == rows
    assert torch.equal(lesson.before, spec.initial_table())
    # AdamW's first step has the learning rate's size, against the gradient (Kingma and Ba 2015).
    large = lesson.grad.abs() > 1e-4
    delta = lesson.after - lesson.before
    assert torch.allclose(delta[large], -spec.learning_rate * lesson.grad[large].sign(), rtol=2e-3)
    with pytest.raises(pc.EncodingError, match="start must be between 0 and 25, got 26; try 25"):
        gradient_step(spec, start=26)


def test_the_gradient_is_the_slope_of_the_loss():
    from posembed_core.training.training import Trainer

    spec = small(seq_len=7)
    trainer = Trainer(spec)
    tokens = trainer.draw(1)
    trainer.model.double()
    trainer.weights = trainer.weights.double()
    table = trainer.model.position.weight
    trainer.loss(tokens).backward()
    cell, h = (3, 5), 1e-6
    with torch.no_grad():
        table[cell] += h
        above = trainer.loss(tokens)
        table[cell] -= 2 * h
        below = trainer.loss(tokens)
    assert table.grad[cell].item() == pytest.approx(((above - below) / (2 * h)).item(), rel=1e-5)


def test_task_weights_in_closed_form():
    ramp = torch.arange(5)
    average = task_weights("neighbourhood-average", 5, sigma=1.0)
    assert torch.allclose(average.sum(dim=1), torch.ones(5))
    ratio = average[2] / average[2, 2]
    assert torch.allclose(ratio, torch.exp(-((ramp - 2.0) ** 2) / 2))
    assert task_weights("previous-token", 4).argmax(dim=1).tolist() == [0, 0, 1, 2]
    assert task_weights("reversed-copy", 4).argmax(dim=1).tolist() == [3, 2, 1, 0]
    eighth = task_weights("every-eighth", 16)
    assert torch.equal(eighth[3], (ramp.new_tensor(range(16)) % 8 == 3) / 2)


def test_the_answer_is_the_share_of_each_token_type():
    tokens = torch.tensor([[2, 0, 1]])
    shares = token_shares(tokens, task_weights("reversed-copy", 3), 3)
    assert shares[0].argmax(dim=1).tolist() == [1, 0, 2]
    assert torch.equal(shares.sum(dim=-1), torch.ones(1, 3))


def test_the_loss_is_zero_for_a_model_that_is_right():
    from posembed_core.training.training import Trainer

    trainer = Trainer(small(task="previous-token"))
    tokens = trainer.draw(4)
    right = token_shares(tokens, trainer.weights, 8)
    trainer.model.forward = lambda *_: (right + 1e-12).log()
    assert trainer.loss(tokens).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"task": "sorting"},
            "task must be 'neighbourhood-average', .* or 'every-eighth', got 'sorting'",
        ),
        ({"max_seq_len": 7}, "max_seq_len must be between 8 and 256, got 7; try 8"),
        ({"steps": 1001}, "steps must be between 1 and 1000, got 1001; try 1000"),
        ({"learning_rate": 0}, "learning_rate must be between 1e-05 and 1, got 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number"),
        ({"seed": -1}, "seed must be between 0 and 4294967295, got -1; try 0"),
        ({"seq_len": 200}, r"seq_len must be at most max_seq_len \(128\), got 200; try 128"),
        ({"steps": 1000}, "snapshot_every must be at least 5, .* got 4; try 5"),
    ],
)
def test_a_spec_that_is_not_allowed_cannot_be_built(fields, sentence):
    with pytest.raises(pc.EncodingError, match=sentence) as caught:
        pc.TrainingSpec(**fields)
    assert caught.value.field in {*fields, "snapshot_every"}


def test_equal_specs_are_one_key():
    assert pc.TrainingSpec() == pc.TrainingSpec(steps=400, sigma=3)
    assert len({pc.TrainingSpec(), pc.TrainingSpec(sigma=3), pc.TrainingSpec(sigma=4)}) == 2


@pytest.mark.parametrize("start", [0, 3])
def test_no_gradient_reaches_a_fixed_encoding(start: int) -> None:
    spec = pc.TrainingSpec(max_seq_len=16, embed_dim=8, seq_len=6)
    waves = pc.create("sinusoidal", embed_dim=8).table(torch.arange(16))
    fixed = gradient_step(spec, start, fixed=waves)
    assert fixed.is_fixed
    assert fixed.moved.numel() == 0
    assert torch.equal(fixed.before, waves)
    assert torch.equal(fixed.after, waves)
    assert not fixed.grad.any()
    assert fixed.others > 0  # what reads it learns
    learned = gradient_step(spec, start)
    assert not learned.is_fixed
    # The same step but for the table: with the learned table's own numbers, the same loss.
    frozen = gradient_step(spec, start, fixed=spec.initial_table())
    assert frozen.loss == learned.loss
    assert frozen.others == pytest.approx(learned.others)
    assert torch.equal(frozen.after, learned.before)
