"""What all sessions share: caches, logs, metrics, memory, the training queue."""
