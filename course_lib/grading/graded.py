"""What can be graded: the course's exercises, and those of earlier editions that are tasks now."""

from __future__ import annotations

from collections.abc import Mapping

from course_lib.curriculum import EXERCISES, TASKS, Exercise

FORMER: dict[str, str] = {
    name: task.replaced_by for name, task in TASKS.items() if task.replaced_by
}  # id -> the exercise that is graded in its place

GRADED: Mapping[str, Exercise] = {
    each.id: each
    for each in (*EXERCISES.values(), *(TASKS[name].as_it_was_graded() for name in FORMER))
}  # today's in the order of the course; then an earlier edition's, asked of those who answered it


def why_not_graded(name: str) -> str:
    """Why a task of a lesson has no points, as the end of a sentence that begins with its name."""
    return f"is a task of lesson {TASKS[name].lesson}, and tasks are not graded"
