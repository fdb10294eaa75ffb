"""Lessons: files, answers, and the bar above a page."""

from pages._ui.lessons.bar import begin, ended_lesson, open_shell
from pages._ui.lessons.files import Lesson, LessonError, lessons

__all__ = ["Lesson", "LessonError", "begin", "ended_lesson", "lessons", "open_shell"]
