"""One attention layer, and what can be tried with it."""
