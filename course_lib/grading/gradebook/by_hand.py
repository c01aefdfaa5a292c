"""Puts what an instructor has set by hand beside what the judge has found, which stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from course_lib.grading.gradebook.class_list import called
from course_lib.grading.gradebook.counted import Graded
from course_lib.grading.gradebook.safe_text import one_line
from course_lib.grading.overrides import Overrides, SetForStudent, key_of
from course_lib.grading.records import GradebookRow, Override
from course_lib.words import counted


def whose(overrides: Overrides, found: Sequence[Graded]) -> dict[str, SetForStudent]:
    """What is set for each submission, by its key.

    Raises:
        CannotGrade: for a student who is not there or is meant twice, and for an exercise that the
            student was not asked for.
    """
    theirs: dict[str, SetForStudent] = {}
    for name, given in overrides.students.items():
        submission, answers = _meant(name, overrides, found)
        if submission.key in theirs:
            raise overrides.fail(
                f"`{key_of(name)}` is set for {submission.key}, as another table is; write both "
                "into one."
            )
        asked = [each.exercise for each in answers if each.exercise]
        for exercise in given.answers:
            if exercise not in asked:
                raise overrides.fail(
                    f"`{key_of(name, exercise)}`: {one_line(submission.student)} is graded on "
                    f"{', '.join(asked) or 'no exercise'} alone; name {exercise} with --exercises, "
                    "or take the table out."
                )
        theirs[submission.key] = given
    return theirs


def _meant(name: str, overrides: Overrides, found: Sequence[Graded]) -> Graded:
    those = called(name, found)
    if len(those) == 1:
        return those[0]
    key = key_of(name)
    if not those:
        raise overrides.fail(
            f"nothing was handed in by `{key}`; the names are in the first column of grades.csv, "
            "and one with a space or a dot stands in quotes."
        )
    keys = ", ".join(submission.key for submission, _ in those)
    raise overrides.fail(
        f"`{key}` is the name of {counted(len(those), 'submission')}; name one: {keys}."
    )


def with_what_is_set(
    rows: Iterable[GradebookRow], theirs: Mapping[str, SetForStudent]
) -> list[GradebookRow]:
    """The rows, with points, comments and late days that were set by hand."""
    return [_with(row, theirs.get(row.submission.key)) for row in rows]


def _with(row: GradebookRow, given: SetForStudent | None) -> GradebookRow:
    if given is None:
        return row
    override = given.answers.get(row.exercise, Override())
    points = row.points if override.points is None else override.points
    return replace(row, points=points, override=override, standing=given.standing)
