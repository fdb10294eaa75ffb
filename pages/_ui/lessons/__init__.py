"""Lessons: files, answers, and the bar above a page."""
