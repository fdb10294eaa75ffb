"""Lessons: files, answers, and the bar above a page."""

from pages._ui.lessons.bar import begin, open_shell
from pages._ui.lessons.files import LessonError, lessons

__all__ = ["LessonError", "begin", "lessons", "open_shell"]
