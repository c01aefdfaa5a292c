"""Examines constants that a task asks for: are they the numbers that its reference names?"""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.diagnosis.constants.tile_choice import Numbers
from course_lib.diagnosis.constants.words import tell
from course_lib.diagnosis.report import Report, make_report
from course_lib.registry.exercise import Task
from course_lib.wording.findings import Finding


def examine(task: Task, numbers: Numbers) -> Report:
    """The verdict on the constants; the reference returns the right ones by name."""
    assert task.reference is not None
    wanted = task.reference()
    found = [each for name in task.parameters for each in _of_one(name, wanted[name], numbers)]
    return make_report(task, found, numbers_right=not found)


def _of_one(name: str, wanted: object, numbers: Numbers) -> Iterator[Finding]:
    value, line = numbers.values.get(name, ...), numbers.line(name)
    if value is ...:
        yield tell("no value", line, name=name)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        yield tell("no number", line, name=name, value=repr(value))
    elif value != wanted:
        yield tell("not right", line, name=name, value=value)
