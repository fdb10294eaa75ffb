"""YaRN: interpolation by pair, on a ramp."""

import math

import torch

base, d, factor, original_max_position_embeddings = 10000.0, 8, 4.0, 4096
beta_fast, beta_slow, truncate = 32.0, 1.0, True

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)


def pair(turns: float) -> float:
    """The pair that turns so often over the trained length."""
    wavelength = original_max_position_embeddings / turns
    return d * math.log(wavelength / (2 * math.pi)) / (2 * math.log(base))


low, high = pair(beta_fast), pair(beta_slow)
if truncate:
    low, high = math.floor(low), math.ceil(high)
low, high = max(low, 0), min(high, d - 1)
m = torch.arange(len(omega), dtype=torch.float64)
gamma = ((m - low) / (high - low or 0.001)).clamp(0, 1)
omega = (1 - gamma) * omega + gamma * omega / factor
