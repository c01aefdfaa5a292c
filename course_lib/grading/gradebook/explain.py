"""Explanations for the instructor: the page of answers in words, and how one verdict came about."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from course_lib.curriculum import PROPERTIES
from course_lib.grading.answers.assembling import TextQuestion
from course_lib.grading.gradebook.class_list import SHOWN_DIGITS, Event, history_lines
from course_lib.grading.gradebook.feedback import filled
from course_lib.grading.gradebook.scoring import key_of, lost_by
from course_lib.grading.gradebook.tables import lines_to_show, one_line, visible
from course_lib.grading.records import GRADED, FoundAnswer, GradebookRow, Judgement
from course_lib.grading.settings import Settings
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import whole
from course_lib.wording.words import decimal


def text_answers_page(
    rows: Sequence[GradebookRow],
    questions: Mapping[str, TextQuestion],
    settings: Settings,
    called: Mapping[str, str],
) -> str | None:
    """The page; None if the course asks nothing in words.

    `called` has the name of each submission, by its key.
    """
    asked = [
        (
            question,
            decimal(settings.max_points(name)),
            [_shown(row) for row in rows if row.exercise == name],
        )
        for name, question in questions.items()
    ]
    if not asked:
        return None
    title = f"Answers in words · {settings.title}"
    return filled("text_answers.html", title, course=settings.title, asked=asked, called=called)


def _shown(row: GradebookRow) -> dict[str, Any]:
    """One answer: its row, the head of its table in overrides.toml, its lines, what is set."""
    lines, left = lines_to_show(row.answer.text) if row.answer else ([row.reason], 0)
    more = [f"And {left} more lines."] if left else []
    given = decimal(row.points) if row.is_set and row.points is not None else ""
    head = f"[{key_of(row.submission.key, row.exercise)}]"
    return {"row": row, "head": head, "lines": [*lines, *more], "points": given}


# --- `grade --explain STUDENT EXERCISE` -----------------------------------------------------------


WIDTH = 96
TRIED = {
    "kernel": "the smallest size, a size that the blocks divide, uneven sizes and a wide one; "
    "warps in lockstep, one after the other, and shuffled; the seed decided the shapes and "
    "inputs",
    "function": "launches on every GPU of the course; the seed decided most of them",
    "constants": "the values were worked out from the text; nothing had to run",
}


def explain(
    row: GradebookRow,
    settings: Settings | None = None,
    history: Sequence[Event] = (),
    replaced: Mapping[str, str] | None = None,
) -> str:
    """All that led to a row, from the file to the points. Nothing in it can act on a terminal.

    `history` is what happened to the row, the oldest first; `replaced` are answers that counted
    before, by their checksums.
    """
    told = [*_lines(row, settings or Settings()), *_happened(history, replaced or {})]
    return "\n".join(told)


def _happened(history: Sequence[Event], replaced: Mapping[str, str]) -> Iterator[str]:
    """The history, and what counted before, even if its file is gone."""
    if history:
        yield "History:"
    for line in history_lines(history):
        yield from _wrapped("  ", line)
    now = history[-1].digest if history else ""
    for digest in dict.fromkeys(event.digest for event in history):
        if digest != now and digest in replaced:
            yield f"Answer [{digest[:SHOWN_DIGITS]}], which counted before:"
            yield from _listing(replaced[digest])


def _lines(row: GradebookRow, settings: Settings) -> Iterator[str]:
    points = "open" if row.judged_points is None else decimal(row.judged_points)
    name, exercise = one_line(row.submission.student), one_line(row.exercise)
    yield f"{name} · {exercise}: {row.verdict}, {points} of {decimal(row.max_points)} points"
    if row.override.points is not None:
        yield f"Set by hand: {decimal(row.override.points)} of {decimal(row.max_points)} points"
    if row.override.comment:
        yield from _wrapped("Your comment: ", row.override.comment)
    yield from _wrapped("Reason: ", row.reason)
    yield ""
    yield from _found(row)
    if row.judgement:
        yield ""
        yield from _judged(row, row.judgement, settings)


def _found(row: GradebookRow) -> Iterator[str]:
    """Where the answer was found, and what it says."""
    answer = row.answer
    files = ", ".join(one_line(file.label) for file in row.submission.files)
    yield from _wrapped("Files: ", files or "none that could be read")
    for file in row.submission.files:
        if file.problem:
            yield from _wrapped("  ", f"{file.label}: {file.problem}")
    if answer is None:
        yield "Answer: none"
        return
    yield from _wrapped("Answer: ", _place(answer))
    for note in answer.notes:
        yield from _wrapped("  Note: ", note)
    yield from _listing(answer.text)


def _listing(text: str) -> Iterator[str]:
    lines, left = lines_to_show(text)
    width = len(str(len(lines)))
    for place, line in enumerate(lines, start=1):
        yield f"  {place:{width}} | {visible(line, keep='')}".rstrip()
    if left:
        yield f"  and {left} more lines"


def _place(answer: FoundAnswer) -> str:
    if answer.file is None:
        return "nowhere"
    cell = f", cell {answer.cell}" if answer.cell is not None else ""
    before = ""
    if answer.first_line > 1:
        before = f"; its lines 1 to {answer.first_line - 1} come from other cells"
    return f"{answer.file}{cell}{before}"


def _judged(row: GradebookRow, judgement: Judgement, settings: Settings) -> Iterator[str]:
    """What was found, and what each property earned."""
    if judgement.outcome != "judged":
        yield f"Judging: {judgement.outcome}"
    elif row.exercise in GRADED:
        yield from _wrapped("Tried: ", TRIED[GRADED[row.exercise].kind.name])
        if judgement.launched:
            yield from _wrapped("", judgement.launched)
        yield f"Right numbers: {_where_right(judgement)}"
    for sentence in judgement.held:
        yield from _wrapped("Holds: ", sentence)
    for rank, finding in enumerate(judgement.findings, start=1):
        yield from _finding(finding, rank)
    if row.judged_points is None:
        yield "Points: open; a person has to look at this answer."
        return
    yield "Points:"
    lost = lost_by(judgement, settings)
    for name, most in settings.points_of(row.exercise).items():
        got = f"{decimal(row.earned.get(name, Decimal(0)))} of {decimal(most)}"
        why = f"lost; {lost[name]}" if name in lost else PROPERTIES[name]
        yield from _wrapped(f"  {name} {got}: ", why)


def _where_right(judgement: Judgement) -> str:
    if judgement.numbers_right:
        return "everywhere"
    if judgement.right_where_even:
        return "where the blocks divide the sizes, and not on uneven ones"
    return "no"


def _finding(finding: Finding, rank: int) -> Iterator[str]:
    where = f"line {finding.line}" if finding.line is not None else "the answer"
    kind = "" if finding.severity == "error" else " (a warning)"
    yield f"{rank}. {where}: {CODES[finding.code].title}{kind} [{finding.code}]"
    yield from _wrapped("   ", whole(finding.message, "instructor"))


def _wrapped(start: str, text: str) -> list[str]:
    indent = " " * max(2, len(start) - len(start.lstrip()))
    return textwrap.wrap(one_line(text), WIDTH, initial_indent=start, subsequent_indent=indent) or [
        start.rstrip()
    ]
