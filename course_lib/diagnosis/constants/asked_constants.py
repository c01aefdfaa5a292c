"""Examines constants that a task asks for: are they the numbers that its reference names?"""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.diagnosis.constants.tile_choice import Numbers
from course_lib.diagnosis.report import Report, make_report
from course_lib.exercise import Task
from course_lib.findings import Finding, finding
from course_lib.sentences import say


def examine(task: Task, numbers: Numbers) -> Report:
    """The verdict on the constants; the reference returns the right ones by name."""
    assert task.reference is not None
    wanted = task.reference()
    found = [each for name in task.parameters for each in _of_one(name, wanted[name], numbers)]
    return make_report(task, found, numbers_right=not found)


def _of_one(name: str, wanted: object, numbers: Numbers) -> Iterator[Finding]:
    value, line = numbers.values.get(name, ...), numbers.line(name)
    if value is ...:
        yield finding(
            "missing-answer",
            say("{name} has no value yet.", name=name),
            line,
            say("What is {name}?", name=name),
        )
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        message = say("{name} is {value}, and a number is asked for.", name=name, value=repr(value))
        yield finding("wrong-formula", message, line, "What does one count here?")
    elif value != wanted:
        message = say("{name} is {value}, and that is not right.", name=name, value=value)
        yield finding("wrong-formula", message, line, "Work it out once more, with a pencil.")
