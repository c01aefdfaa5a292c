"""Examines constants that a task asks for: are they the numbers that its reference names?"""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.diagnosis.report import Report, make_report
from course_lib.diagnosis.tile_choice import Numbers
from course_lib.exercise import Task
from course_lib.findings import Finding, finding


def examine(task: Task, numbers: Numbers) -> Report:
    """The verdict on the constants; the reference returns the right ones by name."""
    assert task.reference is not None
    wanted = task.reference()
    found = [each for name in task.parameters for each in _of_one(name, wanted[name], numbers)]
    return make_report(task, found, numbers_right=not found)


def _of_one(name: str, wanted: object, numbers: Numbers) -> Iterator[Finding]:
    value, line = numbers.values.get(name, ...), numbers.line(name)
    if value is ...:
        yield finding("missing-answer", f"{name} has no value yet.", line, f"What is {name}?")
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        message = f"{name} is {value!r}, and a number is asked for."
        yield finding("wrong-formula", message, line, "What does one count here?")
    elif value != wanted:
        message = f"{name} is {value}, and that is not right."
        yield finding("wrong-formula", message, line, "Work it out once more, with a pencil.")
