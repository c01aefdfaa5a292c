"""Nobody is stuck: a task's answer is shown on request, and stands in where one is needed."""

from __future__ import annotations

import difflib
import functools
import linecache
import math
from typing import Any

import numpy as np

from course_lib.checking import examine
from course_lib.curriculum import EXERCISES, TASKS, Task
from course_lib.host.runtime import speak_plainly
from course_lib.registry.kinds import TileKind
from course_lib.student import exam, progress
from course_lib.tiles.stand_ins import PACKAGES as TILE_LANGUAGES
from course_lib.tiles.stand_ins import module as tile_language
from course_lib.verdicts import OURS
from course_lib.wording.errors import PlainError
from course_lib.wording.findings import CODES, Finding


def show_answer(task_id: str) -> None:
    """Print an answer to a task; a later lesson asks for the task again, unaided.

    For a graded exercise, or an id that is none, one sentence says so.
    """
    task = TASKS.get(task_id)
    if task is None or exam.is_on():
        print(why_no_answer(task_id) if task is None else exam.WHY_NOT)
        return
    progress.note_shown(task.id, task.lesson)
    print(f"One answer to {task.id}; the next lesson asks you for it again, unaided.\n")
    print(task.answer.strip())


def yours_or_ours(task_id: str, yours: object = None) -> Any:
    """The student's answer to a task if it passes, otherwise the course's; says which in one line.

    Args:
        task_id: such as "load_tile".
        yours: what the student wrote: a kernel, a device function, a plain function, or a dict of
            constants.

    Returns:
        `yours`, or the course's answer as an object of the same kind.

    Raises:
        PlainError: if there is no such task.
    """
    speak_plainly()
    task = TASKS.get(task_id)
    if task is None:
        raise PlainError(why_no_answer(task_id))
    report = examine(task_id, yours)
    if report.passed:
        print(f"{task_id}: yours, since it passes.")
        return yours
    print(f"{task_id}: ours stands in, since yours {_why_not(report.errors[0])}.")
    return ours(task_id)


@functools.cache
def ours(task_id: str) -> Any:
    """The course's answer to a task: what its cell defines, with a source that can be found."""
    task = TASKS[task_id]
    filename = f"{OURS}{task_id}>"
    text = task.answer.strip() + "\n"
    # Without a time, Python's cache of sources keeps a text that stands in no file.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"__name__": "answer", "np": np, "math": math}
    names |= languages_of(task) | {use: ours(use) for use in task.uses}
    exec(compile(text, filename, "exec"), names)
    if task.kind.is_function:
        return names[task_id]
    return {name: names[name] for name in task.names_to_define}


def languages_of(task: Task) -> dict[str, Any]:
    """The names of the languages that a task's answer may use, and what they stand for."""
    if isinstance(task.kind, TileKind):
        return {name: tile_language(name) for name in TILE_LANGUAGES}
    from numba import cuda, float32

    return {"cuda": cuda, "float32": float32}


def _why_not(cause: Finding) -> str:
    if cause.code == "missing-answer":
        return "is not written yet"
    where = f"line {cause.line}, " if cause.line else ""
    return f"does not pass yet ({where}{CODES[cause.code].title})"


def why_no_answer(task_id: object) -> str:
    """Why there is no answer to show for this id, in a sentence."""
    if task_id in EXERCISES:
        return (
            f"{task_id} is graded, so there is no answer to show: its check says at which line to "
            "look first, and its hints lead to the idea."
        )
    near = difflib.get_close_matches(str(task_id), TASKS, n=3, cutoff=0.4)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no task {task_id!r}.{meant}"
