"""From judgements to rows: points weighed by the course's settings, and what is set by hand.

`diagnosis/points.py` says which points an answer has earned. What an instructor sets by hand is in
one file, overrides.toml:

    [student-02]
    late_days = 2
    comment = "As we said on Monday."          # on the submission as a whole

    ["Ada Lovelace".matmul_tiled]              # quotes around a name with a space or a dot
    points = 9                                 # instead of the judge's
    comment = "The barrier is where it should be: my mistake."

It is read anew by every run and changes nothing of what the judge has found, so a run without an
entry gives the judge's points again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from course_lib.diagnosis.points import lost_properties
from course_lib.grading.gradebook.class_list import Graded, called
from course_lib.grading.gradebook.tables import one_line, shortened
from course_lib.grading.records import (
    GRADED,
    CannotGrade,
    FoundAnswer,
    GradebookRow,
    Judgement,
    Override,
    Standing,
    Submission,
    Verdict,
)
from course_lib.grading.settings import LateRule, Settings, TomlFile, total
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import whole
from course_lib.wording.words import counted

FILE = "overrides.toml"
MOST_DAYS = 366
MOST_OF_A_COMMENT = 2_000  # of a comment
OF_A_STUDENT = ("late_days", "comment")
OF_AN_ANSWER = ("points", "comment")


@dataclass(frozen=True)
class SetForStudent:
    """What is set for one student."""

    standing: Standing = field(default_factory=Standing)  # what holds for the submission as a whole
    answers: Mapping[str, Override] = field(default_factory=dict)  # what is set for each exercise


@dataclass(frozen=True)
class Overrides:
    """All that is set by hand."""

    path: Path | None = None  # the file; None if there is none
    # by the names that the file uses
    students: Mapping[str, SetForStudent] = field(default_factory=dict)
    late: LateRule | None = None  # what being late costs; None if nothing

    def fail(self, sentence: str) -> CannotGrade:
        """A complaint about the file, for `raise`."""
        return CannotGrade(f"{self.path}: {sentence}")


def load_overrides(path: Path | None, settings: Settings, submissions: Path) -> Overrides:
    """What a file sets, which must not be among the submissions; nothing if there is no file.

    Raises CannotGrade for anything in it that cannot be used.
    """
    if path is None:
        return Overrides(late=settings.late)
    if submissions.resolve() in path.resolve().parents:
        raise CannotGrade(
            f"{path} is among the submissions, where a student could have put it. If it is yours, "
            f"move it out of {submissions}, and name it with --overrides."
        )
    return _Reader(path, settings).overrides()


def beside(course: Path | None) -> Path | None:
    """The file beside the course's own, if there is one."""
    path = course.with_name(FILE) if course else None
    return path if path and path.exists() else None


def key_of(*parts: str) -> str:
    """A key as one writes it in the file."""
    return ".".join(p if re.fullmatch("[A-Za-z0-9_-]+", p) else repr(p) for p in parts)


class _Reader(TomlFile):
    """What may stand in overrides.toml."""

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__(path)
        self.settings = settings

    def overrides(self) -> Overrides:
        students = {name: self.student(name, given) for name, given in self.table().items()}
        return Overrides(self.path, students, self.settings.late)

    def student(self, name: str, given: object) -> SetForStudent:
        if not isinstance(given, dict) or not given:
            head = "a student's name as the head of a table, such as [student-02]"
            below = "write late_days, comment or an exercise below it"
            raise self.instead(given, key_of(name), f"{head}, and {below}")
        answers = {key: value for key, value in given.items() if key not in OF_A_STUDENT}
        known = (*GRADED, *self.settings.questions)
        self.only_known(answers, known, "exercise", f" under `{key_of(name)}`")
        return SetForStudent(
            self.standing(name, given),
            {exercise: self.answer(name, exercise, answer) for exercise, answer in answers.items()},
        )

    def standing(self, name: str, given: Mapping[str, object]) -> Standing:
        days = given.get("late_days")
        noted = None if days is None else self.days(days, key_of(name, "late_days"))
        late = self.settings.late
        share = late.share_left(noted) if late and noted else Decimal(1)
        return Standing(self.comment(given, name), noted, share)

    def days(self, value: object, key: str) -> int:
        if type(value) is not int or not 0 <= value <= MOST_DAYS:
            write = f"a whole number from 0 to {MOST_DAYS}, without quotes"
            raise self.instead(value, key, write)
        if value and self.settings.late is None:
            raise self.fail(
                f"`{key}` is {value}, but no rule says how many points that costs; write a table "
                "[late] with per_day = 0.1 into course.toml, and name that file with --settings."
            )
        return value

    def answer(self, name: str, exercise: str, given: object) -> Override:
        key = key_of(name, exercise)
        if not isinstance(given, dict) or not given:
            raise self.instead(given, key, f"a table [{key}] with points or comment in it")
        self.only_known(given, OF_AN_ANSWER, "key", f" under `{key}`")
        points = given.get("points")
        return Override(
            None if points is None else self.points(points, exercise, f"{key}.points"),
            self.comment(given, name, exercise),
        )

    def points(self, value: object, exercise: str, key: str) -> Decimal:
        return self.number(value, key, self.settings.max_points(exercise))

    def comment(self, given: Mapping[str, object], *place: str) -> str:
        if "comment" not in given:
            return ""
        value = given["comment"]
        text = value.strip() if isinstance(value, str) else ""
        if not text or len(text) > MOST_OF_A_COMMENT:
            write = f"text of 1 to {MOST_OF_A_COMMENT} characters in quotes"
            raise self.instead(value, key_of(*place, "comment"), write)
        return text


# --- Points, comments and late days set by hand, beside what the judge has found ------------------


def whose(overrides: Overrides, found: Sequence[Graded]) -> dict[str, SetForStudent]:
    """What is set for each submission, by its key, and who is late by what the platform says.

    Raises CannotGrade for a student who is not there or is meant twice, and for an exercise that
    the student was not asked for.
    """
    theirs: dict[str, SetForStudent] = {}
    for name, given in overrides.students.items():
        submission, answers = _meant(name, overrides, found)
        if submission.key in theirs:
            raise overrides.fail(
                f"`{key_of(name)}` is for {submission.key}, and so is another table; write both "
                "into one."
            )
        asked = [answer.exercise for answer in answers if answer.exercise]
        for exercise in given.answers:
            if exercise not in asked:
                raise overrides.fail(
                    f"`{key_of(name, exercise)}`: {one_line(submission.student)} is graded on "
                    f"{', '.join(asked) or 'no exercise'} alone; name {exercise} with --exercises, "
                    "or remove the table."
                )
        theirs[submission.key] = given
    for submission, _ in found:
        given = theirs.get(submission.key, SetForStudent())
        if submission.is_late and given.standing.late_days is None:  # 0 days excuse the flag
            share = overrides.late.share_left(0) if overrides.late else Decimal(1)
            standing = replace(given.standing, share=share, flagged=True)
            theirs[submission.key] = replace(given, standing=standing)
    return theirs


def _meant(name: str, overrides: Overrides, found: Sequence[Graded]) -> Graded:
    those = called(name, found)
    if len(those) == 1:
        return those[0]
    key = key_of(name)
    if not those:
        raise overrides.fail(
            f"nothing was handed in by `{key}`; the names are in the first column of grades.csv; "
            "put a name with a space or a dot in quotes."
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


# --- The row of an answer: points, verdict, reason ------------------------------------------------
# Which properties an answer has shown is decided in one place for students and graders alike,
# diagnosis/points.py. Here a course's own weights are put on them, and a verdict is drawn:
#
#     passed         every property that has points was shown
#     partly         some were
#     failed         none was
#     missing        there is nothing to judge: 0 points, and the reason says what is missing
#     needs review   a person has to decide: no points at all, never 0


MOST_CHARACTERS = 300  # of a reason
NOT_JUDGED = {
    "died": "The process that judged this answer crashed twice. Please look at the answer.",
    "stopped-by-clock": (
        "A time limit stopped the judge, not a budget of steps. Please look at the answer."
    ),
}

READ_BY_A_PERSON = "An answer in words: your instructor reads it."

_Decision = tuple[Decimal | None, Verdict, str, dict[str, Decimal]]
_NONE = Decimal(0)


def score(
    submission: Submission, answer: FoundAnswer, judgement: Judgement | None, settings: Settings
) -> GradebookRow:
    """The row of one submission and exercise.

    The answer's `problem` says why there is nothing to judge, and its `needs_review` that something
    may be there all the same; then `judgement` is None.
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
        decision = (
            None,
            "needs review",
            "This answer was not judged. Please look at it yourself.",
            {},
        )
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
        return points, "passed", "The answer has every property that was asked for.", earned
    reason = _cause(judgement.findings) or _costs(lost)
    return points, "partly" if points else "failed", reason, earned


def lost_by(judgement: Judgement, settings: Settings) -> dict[str, str]:
    """The properties that the answer has not shown, each with the reason."""
    exercise = GRADED.get(judgement.exercise)
    if exercise is None:
        return {"right": "there is no such exercise"}
    added = [name for name in settings.points_of(exercise.id) if name not in exercise.points]
    right, even = judgement.numbers_right, judgement.right_where_even
    return lost_properties(exercise, judgement.findings, right, even, judgement.shares, added)


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "error"]


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
    for finding in findings:
        if finding.code == "unsupported":
            where = f"Line {finding.line}: " if finding.line is not None else ""
            return f"{where}{finding.message}"
    return "The checker could not judge this answer. Please look at it."
