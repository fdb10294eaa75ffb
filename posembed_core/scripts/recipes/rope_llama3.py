"""Llama 3.1: by the number of turns in training."""

import math

import torch

base, d, factor, original_max_position_embeddings = 500000.0, 8, 8.0, 8192
low_freq_factor, high_freq_factor = 1.0, 4.0

# ---
omega = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
turns = original_max_position_embeddings * omega / (2 * math.pi)
gamma = ((turns - low_freq_factor) / (high_freq_factor - low_freq_factor)).clamp(0, 1)
omega = (1 - gamma) * omega / factor + gamma * omega
