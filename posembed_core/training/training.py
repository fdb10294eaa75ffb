"""Training a position table by gradient descent, from noise, on a task that needs positions."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from posembed_core.parameters import (
    EncodingError,
    Integer,
    Parameter,
    choice,
    field,
    integer,
    real,
)
from posembed_core.seeded import seeded_normal
from posembed_core.training.tasks import TASKS, task_weights, token_shares

_MOST_SNAPSHOTS = 200
_HELD_OUT = 32  # sequences


@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """Everything that decides a training run; equal specs give the same table, bit for bit.

    ``seq_len`` is the length of the training sequences, by default all ``max_seq_len`` positions;
    rows beyond it are never looked up. ``sigma``, in positions, is the width of the neighbourhood
    average. A snapshot is taken every ``snapshot_every`` steps and at both ends. Raises
    `EncodingError` for a value that isn't allowed.

    >>> import posembed_core as pc
    >>> pc.TrainingSpec(max_seq_len=16).length
    16
    >>> pc.TrainingSpec(steps=0)
    Traceback (most recent call last):
        ...
    posembed_core.parameters.EncodingError: steps must be between 1 and 1000, got 0; try 1
    """

    task: str = choice("neighbourhood-average", "Task", tuple(TASKS))
    max_seq_len: int = integer(128, "Max length", low=8, high=256, role="length")
    embed_dim: int = integer(64, "Dimension", low=4, high=256, role="dimension")
    seq_len: int | None = field(
        None, Integer("Training length", low=2, high=256, optional=True, help="Empty: all of it")
    )
    num_tokens: int = integer(16, "Token types", low=2, high=64)
    sigma: float = real(3.0, "Neighbourhood", low=0.5, high=32.0, help="Positions")
    batch_size: int = integer(16, "Batch", low=1, high=32)
    learning_rate: float = real(1e-2, "Learning rate", low=1e-5, high=1.0, log=True)
    steps: int = integer(400, "Steps", low=1, high=1000)
    snapshot_every: int = integer(4, "Snapshot every", low=1, high=1000, help="Steps")
    seed: int = integer(42, "Seed", low=0, high=2**32 - 1)

    def __post_init__(self) -> None:
        for name, parameter in self.parameters().items():
            object.__setattr__(self, name, parameter.check(name, getattr(self, name)))
        if self.length > self.max_seq_len:
            raise EncodingError(
                f"seq_len must be at most max_seq_len ({self.max_seq_len}), got {self.length}; "
                f"try {self.max_seq_len}",
                field="seq_len",
                nearest=self.max_seq_len,
            )
        fewest = -(-self.steps // _MOST_SNAPSHOTS)
        if self.snapshot_every < fewest:
            raise EncodingError(
                f"snapshot_every must be at least {fewest}, so that {self.steps} steps leave at "
                f"most {_MOST_SNAPSHOTS} snapshots, got {self.snapshot_every}; try {fewest}",
                field="snapshot_every",
                nearest=fewest,
            )

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """``{field name: Parameter}`` in the order of the fields."""
        marked = ((item.name, item.metadata.get("parameter")) for item in dataclasses.fields(cls))
        return {name: parameter for name, parameter in marked if parameter is not None}

    @property
    def length(self) -> int:
        """The length of the training sequences."""
        return self.max_seq_len if self.seq_len is None else self.seq_len

    def initial_table(self) -> Float[Tensor, "max_seq_len embed_dim"]:
        """The table before training, the same as ``learned`` gives at this seed."""
        return seeded_normal(self.max_seq_len, self.embed_dim, self.seed, self.embed_dim**-0.5)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The table after ``step`` steps of training.

    ``loss`` is that of the weights shown, in nats, on held-out sequences that are the same at every
    step. ``query_key`` is what the head reads the table with: position i attends to position j by
    ``weight[i] @ query_key @ weight[j]``, whatever the tokens are.
    """

    step: int
    weight: Float[Tensor, "max_seq_len embed_dim"]
    loss: float
    query_key: Float[Tensor, "embed_dim embed_dim"]

    def attention(self) -> Float[Tensor, "max_seq_len max_seq_len"]:
        """How much each position (row) attends to each other by position alone; rows sum to 1."""
        return (self.weight @ self.query_key @ self.weight.T).softmax(dim=-1)


@dataclass(frozen=True, eq=False)
class GradientStep:
    """One step of gradient descent on one sequence: the table before it, its gradient, and after.

    ``looked_up`` are the positions of the sequence, in ascending order; ``others`` is the norm of
    the gradient of all other weights. A table that is fixed has no gradient: ``is_fixed``, zeros.
    """

    looked_up: Int[Tensor, " length"]
    before: Float[Tensor, "max_seq_len embed_dim"]
    grad: Float[Tensor, "max_seq_len embed_dim"]
    after: Float[Tensor, "max_seq_len embed_dim"]
    loss: float
    others: float = 0.0
    is_fixed: bool = False

    @property
    def moved(self) -> Int[Tensor, " rows"]:
        """The rows that the step changed."""
        return (self.after != self.before).any(dim=1).nonzero().flatten()


class OneHeadAttention(nn.Module):
    """Token plus position, one attention head without a mask, and a linear map to token types.

    h = e + p;  softmax((h Wq) (h Wk)ᵀ / √d) (h Wv) Wo. The table is a real `nn.Embedding`, drawn
    as ``learned`` is; the rest as PyTorch draws it by default (tokens N(0, 1), maps uniform within
    ±1/√d), but from ``generator``, so that no global state is read or changed.
    """

    def __init__(self, spec: TrainingSpec, generator: torch.Generator) -> None:
        super().__init__()
        width = spec.embed_dim
        self.softmax_scale = float(width**-0.5)
        tokens = torch.randn(spec.num_tokens, width, generator=generator)
        self.position = nn.Embedding.from_pretrained(spec.initial_table(), freeze=False)
        self.token = nn.Embedding.from_pretrained(tokens, freeze=False)
        self.query = _map(width, width, generator)
        self.key = _map(width, width, generator)
        self.value = _map(width, width, generator)
        self.out = _map(width, spec.num_tokens, generator)

    def forward(
        self, tokens: Int[Tensor, "batch seq_len"], positions: Int[Tensor, " seq_len"]
    ) -> Float[Tensor, "batch seq_len num_tokens"]:
        """The logits of the token types at each position."""
        h: Tensor = self.token(tokens) + self.position(positions)
        scores = (h @ self.query) @ (h @ self.key).mT * self.softmax_scale
        return scores.softmax(dim=-1) @ (h @ self.value) @ self.out

    def query_key(self) -> Float[Tensor, "embed_dim embed_dim"]:
        """Wq Wkᵀ / √d: between two vectors it gives the score of one for the other."""
        query, key = self.query.detach(), self.key.detach()
        return query @ key.mT * self.softmax_scale


class Trainer:
    """A model, its data and its optimiser, one step at a time."""

    def __init__(self, spec: TrainingSpec) -> None:
        self.spec = spec
        self.generator = torch.Generator().manual_seed(spec.seed)
        self.model = OneHeadAttention(spec, self.generator)
        self.weights = task_weights(spec.task, spec.length, spec.sigma)
        self.held_out = self.draw(_HELD_OUT)
        # Weight decay would move rows that no sequence looked up, so embeddings have none.
        tables = [self.model.position.weight, self.model.token.weight]
        maps = [self.model.query, self.model.key, self.model.value, self.model.out]
        groups: list[dict[str, Any]] = [{"params": tables, "weight_decay": 0.0}, {"params": maps}]
        self.optimiser = torch.optim.AdamW(groups, lr=spec.learning_rate)

    def draw(self, count: int) -> Int[Tensor, "count seq_len"]:
        """Random sequences, every token type equally likely."""
        shape = (count, self.spec.length)
        return torch.randint(self.spec.num_tokens, shape, generator=self.generator)

    def loss(self, tokens: Int[Tensor, "batch seq_len"], start: int = 0) -> Float[Tensor, ""]:
        """KL divergence from the right shares to the model's, in nats, averaged over positions.

        0 for a model that is always right. The sequences begin at position ``start``.
        """
        positions = torch.arange(start, start + tokens.shape[1])
        shares = token_shares(tokens, self.weights, self.spec.num_tokens)
        logits = self.model(tokens, positions)
        divergence = nn.functional.kl_div(logits.log_softmax(dim=-1), shares, reduction="sum")
        return divergence / tokens.numel()

    def step(self, tokens: Int[Tensor, "batch seq_len"], start: int = 0) -> float:
        """One step of AdamW on these sequences; the loss before it."""
        loss = self.loss(tokens, start)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def snapshot(self, step: int) -> Snapshot:
        """A copy of the table as it is now."""
        with torch.no_grad():
            loss = float(self.loss(self.held_out))
        weight = self.model.position.weight.detach().clone()
        return Snapshot(step, weight, loss, self.model.query_key())


def unfinished_bytes(spec: TrainingSpec) -> int:
    """The approximate bytes that an unfinished training holds beside its snapshots.

    Each parameter with its gradient and AdamW's two moments, and 2 MB for objects and the gaps
    between them in memory: measured, 1.8 MB in all at 128 × 64 and 6.4 MB at 256 × 256.

    >>> unfinished_bytes(TrainingSpec()) > 2 * 2**20
    True
    """
    width = spec.embed_dim
    parameters = width * (spec.max_seq_len + 2 * spec.num_tokens + 3 * width)
    return 4 * 4 * parameters + 2 * 2**20


def train_table(spec: TrainingSpec) -> Generator[Snapshot, None, None]:
    """Train a table; yields snapshots as it goes, first step 0 (noise), last the result.

    Deterministic bit for bit on one machine, however many threads torch may use. Closing the
    generator ends the training.

    >>> import posembed_core as pc
    >>> spec = pc.TrainingSpec(max_seq_len=8, embed_dim=4, steps=2, snapshot_every=1)
    >>> [snapshot.step for snapshot in pc.train_table(spec)]
    [0, 1, 2]
    """
    with one_thread():
        trainer = Trainer(spec)
        snapshot = trainer.snapshot(0)
    yield snapshot
    for step in range(1, spec.steps + 1):
        with one_thread():
            trainer.step(trainer.draw(spec.batch_size))
            due = step % spec.snapshot_every == 0 or step == spec.steps
            snapshot = trainer.snapshot(step) if due else snapshot
        if due:
            yield snapshot


def gradient_step(
    spec: TrainingSpec, start: int = 0, fixed: Float[Tensor, "max_seq_len embed_dim"] | None = None
) -> GradientStep:
    """One step from the initial table on one sequence of ``spec.length`` tokens from ``start`` on.

    With ``fixed``, the same step where these vectors stand in the table's place, and, being no
    parameters, are never trained: no gradient reaches them, the other weights have theirs. Raises
    `EncodingError` where the sequence doesn't fit into the table.

    >>> step = gradient_step(TrainingSpec(max_seq_len=8, embed_dim=4, seq_len=3), start=2)
    >>> step.moved.tolist()
    [2, 3, 4]
    """
    last_start = spec.max_seq_len - spec.length
    start = Integer("Start", low=0, high=last_start).check("start", start)
    with one_thread():
        trainer = Trainer(spec)
        if fixed is not None:
            trainer.model.position = nn.Embedding.from_pretrained(fixed.clone(), freeze=True)
        table = trainer.model.position.weight
        before = table.detach().clone()
        loss = trainer.step(trainer.draw(1), start)
    gradients = [part.grad for part in trainer.model.parameters() if part is not table]
    squares = [gradient.square().sum() for gradient in gradients if gradient is not None]
    if (table.grad is None) != (fixed is not None):
        raise RuntimeError("a learned table must take part in the loss, a fixed one must not")
    return GradientStep(
        looked_up=torch.arange(start, start + spec.length),
        before=before,
        grad=torch.zeros_like(before) if table.grad is None else table.grad,
        after=table.detach().clone(),
        loss=loss,
        others=float(torch.stack(squares).sum().sqrt()),
        is_fixed=table.grad is None,
    )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch's operations on one thread: sums split among several differ in the last bit.

    The count belongs to the calling thread, so others are unaffected.

    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    """
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)


def _map(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    uniform = torch.rand(rows, columns, generator=generator)
    return nn.Parameter((2 * uniform - 1) * rows**-0.5)
