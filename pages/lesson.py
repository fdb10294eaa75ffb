"""The lessons: what there is to learn, and the way into each."""

from __future__ import annotations

import streamlit as st

from pages._ui.escaped import in_lesson
from pages._ui.lessons import Lesson, LessonError, begin, ended_lesson, lessons
from pages._ui.sentences import sentence


def main() -> None:
    """The list; a link with a lesson and a step goes there at once."""
    try:
        known = lessons()
    except LessonError as error:
        st.error(sentence(error))
        return
    slug, step = st.query_params.get("lesson", ""), st.query_params.get("step", "1")
    if slug.partition(".")[0] in known:
        begin(slug if "." in slug else f"{slug}.{step}")
    elif slug:
        st.warning("The link names a lesson that isn't here; these are.")
    if (ended := ended_lesson()) is not None:
        end_of(ended, list(known.values()))
    st.markdown(
        "Each goes through a few real settings of these pages. **N** is next, **B** is back, "
        "**P** is for the projector; whatever you change on the way is yours to try."
    )
    for lesson in known.values():
        with st.container(horizontal=True, vertical_alignment="center", key=f"go-{lesson.slug}"):
            if st.button(in_lesson(lesson.title), key=f"lesson.{lesson.slug}", width=360):
                begin(f"{lesson.slug}.1")
            st.markdown(f"{in_lesson(lesson.about)} {len(lesson.steps)} steps.", width="stretch")


def end_of(lesson: Lesson, known: list[Lesson]) -> None:
    """What one knows now, and the way into the next lesson."""
    with st.container(border=True, key="end", gap="small"):
        st.markdown(f"**{in_lesson(lesson.title)}** Now you know: {in_lesson(lesson.know)}")
        later = known[known.index(lesson) + 1 :]
        if later and st.button(
            f"Next lesson: {in_lesson(later[0].title)}",
            key="step.next",
            shortcut="n",
            type="primary",
        ):
            begin(f"{later[0].slug}.1")


main()
