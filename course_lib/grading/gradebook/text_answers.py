"""Writes the page of all answers in words, question by question, for the person who reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_lib.grading.answers.free_text import TextQuestion
from course_lib.grading.gradebook.page import filled
from course_lib.grading.gradebook.safe_text import lines_to_show
from course_lib.grading.overrides import key_of
from course_lib.grading.records import GradebookRow
from course_lib.grading.settings import Settings
from course_lib.words import decimal


@dataclass(frozen=True)
class ReadAnswer:
    """One answer, as the page shows it.

    Attributes:
        row: its row of the gradebook.
        head: the head of its table in overrides.toml.
        lines: the text.
        points: those that are set, or "".
    """

    row: GradebookRow
    head: str
    lines: Sequence[str]
    points: str


def text_answers_page(
    rows: Sequence[GradebookRow],
    questions: Mapping[str, TextQuestion],
    settings: Settings,
    called: Mapping[str, str],
) -> str | None:
    """The page; None if the course asks nothing in words.

    Args:
        rows: of all submissions.
        questions: what is asked.
        settings: what the questions are worth.
        called: the name of each submission, by its key.
    """
    asked = [
        (
            each,
            decimal(settings.max_points(name)),
            [_shown(row) for row in rows if row.exercise == name],
        )
        for name, each in questions.items()
    ]
    if not asked:
        return None
    title = f"Answers in words · {settings.title}"
    return filled("text_answers.html", title, course=settings.title, asked=asked, called=called)


def _shown(row: GradebookRow) -> ReadAnswer:
    lines, left = lines_to_show(row.answer.text) if row.answer else ([row.reason], 0)
    more = [f"And {left} more lines."] if left else []
    given = decimal(row.points) if row.is_set and row.points is not None else ""
    return ReadAnswer(row, f"[{key_of(row.submission.key, row.exercise)}]", [*lines, *more], given)
