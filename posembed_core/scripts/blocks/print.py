"""The numbers at chosen positions, as the page shows them."""

import torch

at = [0, 1]
shown: dict[str, torch.Tensor]

# ---
for row, position in enumerate(at):
    print(f"position {position}")
    for name, vectors in shown.items():
        first = ", ".join(f"{x:.3f}" for x in vectors[row, :5].tolist())
        print(f"  {name:5} norm {vectors[row].double().norm():.3f}   [{first}, …]")
