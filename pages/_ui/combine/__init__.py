"""The landing page: its settings, words and files."""
