"""Measures of any table of vectors."""
