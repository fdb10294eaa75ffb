"""What all sessions share: stores of results, the model, logs, metrics, memory, trainings."""
