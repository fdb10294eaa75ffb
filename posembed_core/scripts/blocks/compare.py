"""One encoding of the comparison: its picture, its scores alone, and its norms."""

import torch

seq_len, head_dim, at, s, softmax_scale = 4, 8, [0, 1], 1.0, 0.5
pairing, rotary_fraction, d = "half", 1.0, 8
e: torch.Tensor
p: torch.Tensor
a: torch.Tensor
b: torch.Tensor
angles: torch.Tensor
scores: torch.Tensor
h: torch.Tensor
moved: torch.Tensor

# --- last query
i, j = torch.tensor([seq_len - 1]), torch.arange(seq_len)  # the last query, all keys
# --- ones
q = k = torch.ones(seq_len, head_dim)  # the same vector everywhere
# --- additive picture
cells = p
# --- rotary picture
cosines = angles.cos()
if pairing == "half":
    cells = torch.cat((cosines, cosines), dim=-1)
else:
    cells = cosines.repeat_interleave(2, dim=-1)
if rotary_fraction != 1.0:
    cells = torch.cat((cells, torch.ones(seq_len, head_dim - d)), dim=-1)
# --- bias picture
cells = b
# --- relative picture
cells = a
# --- additive similarity
cells = p.double() @ p.double().T * softmax_scale
# --- bias similarity
cells = b
# --- rotary similarity
cells = scores
# --- relative similarity
cells = scores
# --- additive moved
moved = s * p
# --- inside attention
h, moved = e, torch.zeros_like(e)  # position comes in later, inside attention
# --- show cells
print(f"{cells.shape[0]} × {cells.shape[1]} values from {cells.min():.4f} to {cells.max():.4f}")
for row in at:
    print(f"  row {row}: [{', '.join(f'{x:.4f}' for x in cells[row, :5].tolist())}, …]")
# --- show norms
for name, vectors in {"e": e, "s·p": moved, "h": h}.items():
    norms = vectors.double().norm(dim=-1)
    some = ", ".join(f"{x:.3f}" for x in norms[at].tolist())
    print(f"norm of {name:3} mean {norms.mean():.3f}, at {at}: [{some}]")
