"""Encodings whose vectors for the last query need other code than those for the first."""
