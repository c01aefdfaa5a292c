"""Exercises of earlier editions that are tasks of a lesson now: what is said of them, and once."""

from __future__ import annotations

from course_lib.curriculum import TASKS

FORMER: dict[str, str] = {
    name: task.replaced_by for name, task in TASKS.items() if task.replaced_by
}  # id -> the exercise that is graded in its place


def why_not_graded(name: str) -> str:
    """Why a task of a lesson has no points, as the end of a sentence that begins with its name."""
    task = TASKS[name]
    where = f"a task of lesson {task.lesson}"
    if name not in FORMER:
        return f"is {where}, and tasks are not graded"
    return f"is {where} now and no longer graded; {FORMER[name]} is graded in its place"
