"""Note what came of a check, and show it where it is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.diagnosis.report import Report
from course_lib.student import front_end
from course_lib.verdicts import page, words
from course_lib.verdicts.medium import COLAB, NOTEBOOK
from course_lib.verdicts.noting import note
from course_lib.verdicts.typed import cell_of, is_ours
from course_lib.verdicts.verdict import Verdict, verdict_of


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
        print(words.text_of(verdict))
        return
    _display(verdict)
    if verdict.task is not None and (report.passed or _is_about_places(report)):
        _show_run(exercise, answer)


# Of these the picture of who wrote what is half the explanation.
ABOUT_PLACES = {"wrong-index", "race-write-after-write", "incomplete-output"}


def _is_about_places(report: Report) -> bool:
    """Is the first thing that is wrong where the threads write?"""
    return bool(report.errors) and report.errors[0].code in ABOUT_PLACES


def _display(verdict: Verdict) -> None:
    from IPython.display import display

    text = words.text_of(verdict)
    display({"text/html": page.html_of(verdict), "text/plain": text}, raw=True)


def _show_run(exercise: Exercise, answer: object) -> None:
    """A picture of the student's own run; its absence never costs them the verdict."""
    try:
        from course_lib import figures  # it needs matplotlib, and nothing else of a check does

        picture = figures.own_run(exercise.id, answer)
        figures.show(picture)
    except Exception:
        return
