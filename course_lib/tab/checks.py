"""Judges an answer for a page: the verdict, the marks of its lines, and what can be drawn of it."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from course_lib import progress
from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.diagnosis.report import Report
from course_lib.emulator import Kernel, KernelRejected, load_program, names_around
from course_lib.helping import why_no_answer
from course_lib.tab.around import around
from course_lib.tab.fields import Fields, Refused, text
from course_lib.tab.offers import Own, offered
from course_lib.verdicts import page, words
from course_lib.verdicts.facts import Verdict, verdict_of
from course_lib.verdicts.marks import marks
from course_lib.verdicts.medium import PAGE
from course_lib.verdicts.noting import note
from course_lib.verdicts.typed import listings

Tell = Callable[[dict[str, Any]], object]  # what is known of an answer before all is


def check(fields: Fields, tell: Tell) -> dict[str, Any]:
    """Judge an answer, and keep in the progress what came of it.

    Of an answer with wrong numbers `tell` is told how the verdict looks before the cause is known.
    """
    exercise, typed = exercise_asked(fields), text(fields, "text")
    progress.begin(text(fields, "lesson", exercise.lesson))
    stands = around(exercise, text(fields, "context", ""))
    answer = answer_in(exercise, typed, stands.context)

    def told_early(seen: Report) -> None:
        early = Verdict(seen, exercise, listings(answer), stands_in=stands.said, medium=PAGE)
        tell({"html": page.html_of(early)})

    report = examine_source(exercise.id, typed, context=stands.context, early=told_early)
    note(report, exercise, answer, typed)
    verdict = verdict_of(report, exercise, answer, PAGE, stands.said)
    figures = offered(Own(exercise, answer), report) if answer is not None else ()
    return {
        "passed": report.passed,
        "waits": verdict.waits,
        "html": page.html_of(verdict),
        "text": words.text_of(verdict),
        "marks": [] if verdict.waits else [asdict(each) for each in marks(report.shown, typed)],
        "figures": [{"id": each.id, "title": each.title} for each in figures],
        "offers_answer": verdict.offers_answer,
        "counts": dict(report.counts),
        "progress": progress.exported(),
    }


def show_answer(fields: Fields) -> dict[str, Any]:
    """An answer to a task; a later lesson asks for the task again, unaided."""
    task = TASKS.get(text(fields, "id"))
    if task is None:
        raise Refused(why_no_answer(fields["id"]))
    progress.begin(text(fields, "lesson", task.lesson))
    progress.note_shown(task.id, task.lesson)
    return {"text": task.answer.strip() + "\n", "progress": progress.exported()}


def exercise_asked(fields: Fields) -> Exercise:
    """The task or exercise that a request is about.

    Raises:
        Refused: if there is none of that id.
    """
    name = text(fields, "id")
    known: dict[str, Exercise] = {**TASKS, **EXERCISES}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        meant = f" Is {near[0]} meant?" if near else ""
        raise Refused(f"There is no task or exercise {name!r}.{meant}")
    return known[name]


def answer_in(exercise: Exercise, typed: str, context: str) -> Kernel | None:
    """The function that was asked for, as the emulator reads it; None if the text has none."""
    try:
        program = load_program(typed, surroundings=names_around(context))
    except (KernelRejected, RecursionError):
        return None
    return program.functions.get(exercise.id)
