"""The page about long contexts: its pictures, words and files."""
