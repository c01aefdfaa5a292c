"""Whether an answer passes: where its numbers are wrong, nobody searches for the cause."""

from unittest import mock

from course_lib.checking import examine_source
from course_lib.diagnosis import examination
from course_lib.diagnosis.report import Report


class _WrongNumbers(Exception):
    """What ends an examination as soon as it is known not to pass."""


def _no_further(report: Report) -> None:
    raise _WrongNumbers


def passes(exercise_id: str, text: str, seed: int = 0) -> bool:
    """An error of the library's own is raised."""
    try:
        return examine_source(exercise_id, text, seed=seed, debug=True, early=_no_further).passed
    except _WrongNumbers:
        return False


def without_cause(exercise_id: str, text: str, seed: int = 0) -> Report:
    """The verdict and, at the least, the points: a cause that is found can only cost some."""
    with mock.patch.object(examination, "with_causes", lambda _, found, trials: found):
        return examine_source(exercise_id, text, seed=seed, debug=True)
