"""Training a position table, and pictures of its progress."""
