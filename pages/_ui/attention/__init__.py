"""The page about attention: its settings, pictures, words and files."""
