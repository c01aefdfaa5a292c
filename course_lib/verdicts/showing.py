"""Note what came of a check, and show it where it is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib import progress
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.diagnosis.report import Report
from course_lib.verdicts import words
from course_lib.verdicts.facts import verdict_of
from course_lib.verdicts.typed import cell_of, is_ours


def show(report: Report, answer: object, block: Sequence[int] | None = None) -> None:
    """Show the verdict on an answer, and keep it in the student's progress."""
    exercise = TASKS.get(report.exercise) or EXERCISES.get(report.exercise)
    if exercise is None:
        print(report)
        return
    _note(report, answer)
    verdict = verdict_of(report, exercise, answer)
    print(words.text_of(verdict))


def _note(report: Report, answer: object) -> None:
    if is_ours(answer):
        return
    if report.passed:
        progress.note_passed(report.exercise, cell_of(answer))
    elif not report.needs_review and report.errors[0].code != "missing-answer":
        progress.note_failure(report.exercise)
