"""Examines answers that are a few numbers: are they the ones that are asked for?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from course_lib.curriculum import Exercise
from course_lib.diagnosis.report import Report, make_report
from course_lib.problems import tile_choice
from course_lib.problems.constants import Numbers
from course_lib.registry.exercise import Task
from course_lib.wording.findings import Finding
from course_lib.wording.tables import Wording, Words

Check = Callable[[Exercise, Numbers], tuple[list[Finding], list[str] | None]]
# By family: what is wrong with the numbers of an answer, and what can be said for them if they can
# be meant at all.
CHECKS: Mapping[str, Check] = {"tile choice": tile_choice.check}
tell = Words(
    {
        "no value": Wording("missing-answer", "{name} has no value yet.", "What is {name}?"),
        "no number": Wording(
            "wrong-formula",
            "{name} is {value}, and a number is asked for.",
            "What does one count here?",
        ),
        "not right": Wording(
            "wrong-formula",
            "{name} is {value}, and that is not right.",
            "Work it out once more, with a pencil.",
        ),
    }
)


def examine(exercise: Exercise, numbers: Numbers) -> Report:
    """The verdict on constants: by a task's reference, or by the check of a family."""
    if isinstance(exercise, Task):
        return _examine_asked(exercise, numbers)
    found, held = CHECKS[exercise.family](exercise, numbers)
    return make_report(exercise, found, held or (), numbers_right=held is not None)


def _examine_asked(task: Task, numbers: Numbers) -> Report:
    """The verdict on the constants; the reference returns the right ones by name."""
    assert task.reference is not None
    wanted = task.reference()
    found = [
        finding for name in task.parameters for finding in _of_one(name, wanted[name], numbers)
    ]
    return make_report(task, found, numbers_right=not found)


def _of_one(name: str, wanted: object, numbers: Numbers) -> Iterator[Finding]:
    value, line = numbers.values.get(name, ...), numbers.line(name)
    if value is ...:
        yield tell("no value", line, name=name)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        yield tell("no number", line, name=name, value=repr(value))
    elif value != wanted:
        yield tell("not right", line, name=name, value=value)
