"""One attention layer, and experiments on it."""
