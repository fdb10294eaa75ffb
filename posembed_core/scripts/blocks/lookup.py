"""One row of a table, and what may be done where there is none."""

import numpy as np
import torch

position, length, way = 5, 8, "error"
seq_len, given = 4, 4
p: torch.Tensor
known: torch.Tensor

# --- longer
# As far from 0 as the old rows, but nothing has trained them.
fresh = np.random.RandomState(0).randn(length - len(p), p.shape[1])
fresh = fresh * p.double().std(correction=0).item()
p = torch.cat((p, torch.from_numpy(fresh).float()))
# --- interpolated
# Each row on the line between its two nearest ones; the first and the last stay.
p = torch.nn.functional.interpolate(
    p.double().T[None], size=length, mode="linear", align_corners=True
)[0].T.float()
# --- known
known = p
seq_len = length
# --- joined
p = torch.cat((known, p[len(known) :]))
# --- show
print(f"{p.shape[0]} positions, {p.shape[1]} dimensions")
try:
    row = torch.nn.functional.embedding(torch.tensor(position), p)
except IndexError as error:
    print(f"position {position}: {error}")
else:
    print(f"position {position}: norm {row.double().norm():.6g}")
    print(f"  [{', '.join(f'{x:.6g}' for x in row[:8].tolist())}, …]")
