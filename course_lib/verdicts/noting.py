"""Keep what came of a check in the student's progress."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib import own_ladder
from course_lib.curriculum import Exercise
from course_lib.diagnosis.report import Report
from course_lib.student import progress


def note(
    report: Report,
    exercise: Exercise,
    answer: object,
    text: str,
    block: Sequence[int] | None = None,
) -> None:
    """Note an answer that passed with its text and its counts, or a check that said no.

    Neither is noted of an answer that is not written yet, or that could not be judged.
    """
    if report.passed and exercise.rung:
        counts = own_ladder.counts_on_ladder(exercise, answer, block)
        times = own_ladder.milliseconds_on_ladder(exercise, answer, block)
        progress.note_passed(exercise.id, text, counts, times)
    elif report.passed:
        progress.note_passed(exercise.id, text, report.counts)
    elif not report.needs_review and report.errors[0].code != "missing-answer":
        progress.note_failure(exercise.id)
