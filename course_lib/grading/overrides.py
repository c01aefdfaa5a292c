"""What an instructor has set by hand, in one file: points, comments and late days.

    [student-02]
    late_days = 2
    comment = "As we said on Monday."          # on the submission as a whole

    ["Ada Lovelace".matmul_tiled]              # quotes around a name with a space or a dot
    points = 9                                 # instead of the judge's
    comment = "The barrier is where it should be: my mistake."

It is read anew by every run and changes nothing of what the judge has found, so a run without an
entry gives the judge's points again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from course_lib.grading.errors import CannotGrade
from course_lib.grading.graded import GRADED
from course_lib.grading.records import Override, Standing
from course_lib.grading.settings import Settings
from course_lib.grading.toml_file import TomlFile, short

FILE = "overrides.toml"
MOST_DAYS = 366
MOST_CHARACTERS = 2_000  # of a comment
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

    def fail(self, sentence: str) -> CannotGrade:
        """A complaint about the file, for `raise`."""
        return CannotGrade(f"{self.path}: {sentence}")


def load_overrides(path: Path | None, settings: Settings, submissions: Path) -> Overrides:
    """What is set in a file; nothing where there is none.

    Args:
        path: the file.
        settings: the course's points, and what a late day costs.
        submissions: what was handed in; the file must not be among it.

    Raises:
        CannotGrade: for anything in it that cannot be used.
    """
    if path is None:
        return Overrides()
    if submissions.resolve() in path.resolve().parents:
        raise CannotGrade(
            f"{path} lies among the submissions, where a student could have put it; move yours out "
            f"of {submissions}, and name it with --overrides."
        )
    return _Reader(path, settings).overrides()


def beside(course: Path | None) -> Path | None:
    """The file that lies beside the course's, if there is one."""
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
        students = {name: self.student(name, each) for name, each in self.table().items()}
        return Overrides(self.path, students)

    def student(self, name: str, given: object) -> SetForStudent:
        if not isinstance(given, dict) or not given:
            raise self.fail(
                f"`{key_of(name)}` is {short(given)}; write a student's name as the head of a "
                "table, such as [student-02], and late_days, comment or an exercise below it."
            )
        answers = {key: each for key, each in given.items() if key not in OF_A_STUDENT}
        known = (*GRADED, *self.settings.questions)
        self.only_known(answers, known, "exercise", f" under `{key_of(name)}`")
        return SetForStudent(
            self.standing(name, given),
            {exercise: self.answer(name, exercise, each) for exercise, each in answers.items()},
        )

    def standing(self, name: str, given: Mapping[str, object]) -> Standing:
        days = self.days(given.get("late_days", 0), key_of(name, "late_days"))
        return Standing(
            comment=self.comment(given, name),
            late_days=days,
            share=self.settings.late.share_left(days) if self.settings.late else Decimal(1),
        )

    def days(self, value: object, key: str) -> int:
        if type(value) is not int or not 0 <= value <= MOST_DAYS:
            raise self.fail(
                f"`{key}` is {short(value)}; write a whole number of 0 to {MOST_DAYS}, unquoted."
            )
        if value and self.settings.late is None:
            raise self.fail(
                f"`{key}` is {value}, and no rule says what that costs; write a table [late] with "
                "per_day = 0.1 into course.toml, and name that file with --settings."
            )
        return value

    def answer(self, name: str, exercise: str, given: object) -> Override:
        key = key_of(name, exercise)
        if not isinstance(given, dict) or not given:
            raise self.fail(
                f"`{key}` is {short(given)}; write a table [{key}] with points or comment in it."
            )
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
        if not text or len(text) > MOST_CHARACTERS:
            raise self.fail(
                f"`{key_of(*place, 'comment')}` is {short(value)}; write text of 1 to "
                f"{MOST_CHARACTERS} characters in quotes."
            )
        return text
