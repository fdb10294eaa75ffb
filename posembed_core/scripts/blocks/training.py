"""A position table trained by gradient descent, from noise."""

import numpy as np
import torch

task, max_seq_len, embed_dim, seq_len, num_tokens, sigma = (
    "neighbourhood-average",
    16,
    8,
    16,
    4,
    3.0,
)
start, at = 0, [0, 1]
batch_size, learning_rate, steps, snapshot_every, seed = 2, 1e-2, 4, 2, 42

# ---
p = np.random.RandomState(seed).randn(max_seq_len, embed_dim) * embed_dim**-0.5
p = torch.from_numpy(p).float()
# --- model
# One head without a mask: softmax((h W_q)(h W_k)ᵀ / √d) (h W_v) W_o, h = e + p.
torch.set_num_threads(1)  # sums split among threads differ in the last bit
generator = torch.Generator().manual_seed(seed)
p.requires_grad_()
e = torch.randn(num_tokens, embed_dim, generator=generator).requires_grad_()
sizes = [embed_dim, embed_dim, embed_dim, num_tokens]
maps = [torch.rand(embed_dim, size, generator=generator) for size in sizes]
maps = [((2 * W - 1) * embed_dim**-0.5).requires_grad_() for W in maps]
W_q, W_k, W_v, W_o = maps

# What each position is asked for: a share of each kind of token, weighted by where the tokens are.
i, j = torch.arange(seq_len)[:, None], torch.arange(seq_len)
if task == "neighbourhood-average":
    asked = torch.exp(-((i - j) ** 2) / (2 * sigma**2))
elif task == "previous-token":
    asked = (j == (i - 1).clamp(min=0)).float()
elif task == "reversed-copy":
    asked = (j == seq_len - 1 - i).float()
else:
    asked = ((i - j) % 8 == 0).float()
asked = asked / asked.sum(dim=1, keepdim=True)


def draw(count: int) -> torch.Tensor:
    return torch.randint(num_tokens, (count, seq_len), generator=generator)


def loss_of(tokens: torch.Tensor) -> torch.Tensor:
    if start == 0:
        h = e[tokens] + p[:seq_len]
    else:
        h = e[tokens] + p[start : start + seq_len]
    scores = (h @ W_q) @ (h @ W_k).mT * embed_dim**-0.5
    logits = scores.softmax(dim=-1) @ (h @ W_v) @ W_o
    shares = asked @ torch.nn.functional.one_hot(tokens, num_tokens).float()
    divergence = torch.nn.functional.kl_div(logits.log_softmax(dim=-1), shares, reduction="sum")
    return divergence / tokens.numel()


held_out = draw(32)
optimiser = torch.optim.AdamW([{"params": [p, e], "weight_decay": 0.0}], lr=learning_rate)
optimiser.add_param_group({"params": maps, "weight_decay": 0.01})
# --- train
for step in range(steps + 1):
    if step > 0:
        loss = loss_of(draw(batch_size))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    if step % snapshot_every == 0 or step == steps:
        with torch.no_grad():
            print(f"step {step}: loss {loss_of(held_out):.6f} nats")
# --- trained
p = p.detach()
# --- show
for row in (0, 1, max_seq_len - 1):
    print(f"row {row}: [{', '.join(f'{x:.3f}' for x in p[row, :5].tolist())}, …]")
# --- step
before = p.detach().clone()
loss = loss_of(draw(1))
loss.backward()
optimiser.step()
after = p.detach()
moved = (after != before).any(dim=1).nonzero().flatten().tolist()
print(f"loss {loss.item():.6f}; {len(moved)} rows moved: {moved[0]} to {moved[-1]}")
gradient = torch.zeros_like(p) if p.grad is None else p.grad.double()
for row in at:
    change = ", ".join(f"{x:.6g}" for x in (after - before)[row, :5].tolist())
    print(f"row {row}: norm of the gradient {gradient[row].norm():.6g}, moved [{change}, …]")
