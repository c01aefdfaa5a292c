"""Puts what an instructor has set by hand beside what the judge has found, which stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from course_lib.diagnosis.report import lost_properties
from course_lib.grading.gradebook.class_list import Graded, called
from course_lib.grading.gradebook.tables import one_line, shortened
from course_lib.grading.graded import GRADED
from course_lib.grading.overrides import Overrides, SetForStudent, key_of
from course_lib.grading.records import (
    FoundAnswer,
    GradebookRow,
    Judgement,
    Override,
    Submission,
    Verdict,
)
from course_lib.grading.settings import Settings, total
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import whole
from course_lib.wording.words import counted


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


# --- Turns what was found about an answer into a row of the gradebook: points, verdict, reason ----
# Which properties an answer has shown is decided in one place for students and graders alike,
# diagnosis/report.py. Here a course's own weights are put on them, and a verdict is drawn:
#
#     passed         every property that has points was shown
#     partly         some were
#     failed         none was
#     missing        there is nothing to judge: 0 points, and the reason says what is missing
#     needs review   a person has to decide: no points at all, never 0


MOST_CHARACTERS = 300  # of a reason
NOT_JUDGED = {
    "died": "The process that judged this answer came to its end, twice. Please look at it.",
    "stopped-by-clock": "Judging was stopped by the clock, not by a budget. Please look at it.",
}

READ_BY_A_PERSON = "An answer in words: your instructor reads it."

_Decision = tuple[Decimal | None, Verdict, str, dict[str, Decimal]]
_NONE = Decimal(0)


def score(
    submission: Submission, answer: FoundAnswer, judgement: Judgement | None, settings: Settings
) -> GradebookRow:
    """The row of one submission and exercise.

    Args:
        submission: whose it is.
        answer: what was found; its `problem` says why there is nothing to judge, and its
            `needs_review` that something may be there all the same.
        judgement: what the examination found; None if there was nothing to examine.
        settings: the course's weights.
    """
    nothing = dict.fromkeys(settings.points_of(answer.exercise), _NONE)
    decision: _Decision
    problem = answer.problem or submission.problem
    if problem and answer.needs_review:
        decision = None, "needs review", problem, {}
    elif problem:
        decision = _NONE, "missing", problem, nothing
    elif answer.exercise in settings.questions:
        decision = None, "needs review", READ_BY_A_PERSON, {}
    elif judgement is None:
        decision = None, "needs review", "This answer was not judged. Please look at it.", {}
    elif judgement.outcome != "judged":
        decision = None, "needs review", NOT_JUDGED[judgement.outcome], {}
    elif judgement.needs_review:
        decision = None, "needs review", _why_review(judgement.findings), {}
    elif _is_missing(judgement):
        decision = _NONE, "missing", _cause(judgement.findings), nothing
    else:
        decision = _weighed(judgement, settings)
    points, verdict, reason, earned = decision
    return GradebookRow(
        submission=submission,
        exercise=answer.exercise,
        points=points,
        max_points=settings.max_points(answer.exercise),
        verdict=verdict,
        reason=shortened(one_line(reason), MOST_CHARACTERS),
        earned=earned,
        answer=answer if answer.text or answer.notes else None,
        judgement=judgement,
        judged_points=points,
    )


def _weighed(judgement: Judgement, settings: Settings) -> _Decision:
    """What an answer earns that could be judged."""
    lost = lost_by(judgement, settings)
    worth = settings.points_of(judgement.exercise)
    earned = {name: _NONE if name in lost else points for name, points in worth.items()}
    points = total(earned.values())
    if points == total(worth.values()) and "right" not in lost:
        return points, "passed", "All that was asked for holds.", earned
    reason = _cause(judgement.findings) or _costs(lost)
    return points, "partly" if points else "failed", reason, earned


def lost_by(judgement: Judgement, settings: Settings) -> dict[str, str]:
    """The properties that the answer has not shown, each with the reason."""
    exercise = GRADED.get(judgement.exercise)
    if exercise is None:
        return {"right": "there is no such exercise"}
    added = [each for each in settings.points_of(exercise.id) if each not in exercise.points]
    right, even = judgement.numbers_right, judgement.right_where_even
    return lost_properties(exercise, judgement.findings, right, even, judgement.shares, added)


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity == "error"]


def _is_missing(judgement: Judgement) -> bool:
    errors = _errors(judgement.findings)
    return bool(errors) and errors[0].code == "missing-answer"


def _cause(findings: Sequence[Finding]) -> str:
    """The first error in words, and how many more there are."""
    errors = _errors(findings)
    if not errors:
        return ""
    where = f"Line {errors[0].line}: " if errors[0].line is not None else ""
    title = CODES[errors[0].code].title
    said = f"{where}{title}" if where else whole(title, "graded student")
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{said} [{errors[0].code}]{more}."


def _costs(lost: Mapping[str, str]) -> str:
    """What was lost where there is no error: a course may give points to a warning."""
    return f"Lost: {'; '.join(f'{name} ({why})' for name, why in lost.items())}."


def _why_review(findings: Sequence[Finding]) -> str:
    for each in findings:
        if each.code == "unsupported":
            where = f"Line {each.line}: " if each.line is not None else ""
            return f"{where}{each.message}"
    return "The checker could not judge this answer. Please look at it."
