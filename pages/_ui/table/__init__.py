"""The page about tables: its sources, training, pictures, words and files."""
