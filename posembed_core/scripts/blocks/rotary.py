"""Door 3: each pair of dimensions turns by an angle that grows with the position."""

import torch

seq_len, s, at, head_dim, rotary_fraction, pairing = 4, 1.0, [0, 1], 8, 1.0, "half"
has_attention_factor = False
attention_factor = 1.0
softmax_scale, scaled = 0.5, True
e: torch.Tensor
q: torch.Tensor
k: torch.Tensor
omega: torch.Tensor

# --- positions
i = torch.arange(seq_len)
# --- width
if rotary_fraction == 1.0:
    d = head_dim
else:
    d = int(head_dim * rotary_fraction)  # the first dimensions turn, the others stay
# --- rotation
angles = s * i[:, None] * omega  # float64: in float32 off by up to 7e-3 at 100,000
if has_attention_factor:
    cos, sin = (attention_factor * angles.cos()).float(), (attention_factor * angles.sin()).float()
else:
    cos, sin = angles.cos().float(), angles.sin().float()


def rotate(x: torch.Tensor) -> torch.Tensor:
    if pairing == "half":
        a, b = x[..., :d].chunk(2, dim=-1)  # pairs (m, m + d/2)
        turned = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
    else:
        a, b = x[..., 0:d:2], x[..., 1:d:2]  # pairs (2m, 2m + 1)
        turned = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
    if rotary_fraction != 1.0:
        turned = torch.cat((turned, x[..., d:]), dim=-1)
    return turned


# --- combine
h = rotate(e)
moved = h - e
# --- show
shown = {"e": e[at], "h - e": moved[at], "h": h[at]}
# --- input
x = e
# --- scores
scores = rotate(q) @ rotate(k).T * softmax_scale
