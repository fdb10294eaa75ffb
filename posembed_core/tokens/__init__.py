"""Token vectors: drawn ones, a sentence's words, an installed model's."""
