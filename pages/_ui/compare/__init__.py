"""The page that compares encodings: its facts and files."""
