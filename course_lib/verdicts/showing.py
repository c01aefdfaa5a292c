"""Note what came of a check, and show it where it is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib import own_ladder
from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.diagnosis.report import Report
from course_lib.student import front_end, progress
from course_lib.verdicts import page
from course_lib.verdicts.typed import cell_of, is_ours
from course_lib.verdicts.verdict import COLAB, NOTEBOOK, text_of, verdict_of


def show(report: Report, answer: object, block: Sequence[int] | None = None) -> None:
    """Show the verdict on an answer, and keep it in the student's progress.

    Whatever goes wrong with the showing costs nobody the verdict: then it is printed.
    """
    exercise = TASKS.get(report.exercise) or EXERCISES.get(report.exercise)
    if exercise is None:
        print(report)
        return
    try:
        _show(report, exercise, answer, block)
    except Exception:
        print(report)


def _show(report: Report, exercise: Exercise, answer: object, block: Sequence[int] | None) -> None:
    if not is_ours(answer):
        note(report, exercise, answer, cell_of(answer), block)
    verdict = verdict_of(report, exercise, answer, COLAB if front_end.on_colab() else NOTEBOOK)
    if verdict.waits or not front_end.shows_html():
        print(text_of(verdict))
        return
    from IPython.display import display

    display({"text/html": page.html_of(verdict), "text/plain": text_of(verdict)}, raw=True)
    if verdict.task is not None and (report.passed or _is_about_places(report)):
        _show_run(exercise, answer)


# Of these the picture of who wrote what is half the explanation.
ABOUT_PLACES = {"wrong-index", "race-write-after-write", "incomplete-output"}


def _is_about_places(report: Report) -> bool:
    """Is the first thing that is wrong where the threads write?"""
    return bool(report.errors) and report.errors[0].code in ABOUT_PLACES


def _show_run(exercise: Exercise, answer: object) -> None:
    """A picture of the student's own run; its absence never costs them the verdict."""
    try:
        from course_lib import figures  # it needs matplotlib, and nothing else of a check does

        picture = figures.own_run(exercise.id, answer)
        figures.show(picture)
    except Exception:
        return


# --- Keep what came of a check in the student's progress -----------------------------------------


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
