"""How much a lesson makes its student read, and how much it makes them type.

A word is what stands between blanks, so anybody can count along.

`python tests/lesson_rules/words.py [FOLDER]` prints a table of the lessons of a checkout.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[each]) for each in (1, 2)]

from lesson_rules.shown import words_of  # noqa: E402

from course_lib.building.notebook import (  # noqa: E402
    Notebook,
    code_cells,
    exercise_id,
    markdown_cells,
    read,
    source,
    tags,
)
from course_lib.building.placed import (  # noqa: E402
    HINTS,
    QUESTION,
    task_of,
    tasks_of,
)
from course_lib.curriculum import LESSONS, Lesson, Task  # noqa: E402
from course_lib.questions import of_lesson  # noqa: E402
from course_lib.questions.kinds import Question  # noqa: E402


@dataclass(frozen=True)
class Count:
    """What one lesson is made of.

    Attributes:
        lesson: its number.
        cells: words in Markdown cells; questions and folded hints stand in the next two.
        questions: words of its quick checks and predictions: choices, reasons, hints and reveals.
        tasks: words that its tasks say if asked or passed: hints, meanings, comparisons, and what
            is seen in a picture of values.
        code_lines: lines that are not blank in its code cells.
        placed: how many tasks it has.
        typed: lines that its tasks ask for, by their par.
        before: cells above the first answer cell, those of the lesson included where it has no
            task and the first one stands in its exercise; None if it has neither.
    """

    lesson: str
    cells: int
    questions: int
    tasks: int
    code_lines: int
    placed: int
    typed: int
    before: int | None


def count(
    lesson: Lesson, notebook: Notebook, exercise: Notebook | None, asked: Mapping[str, Question]
) -> Count:
    """The numbers of one lesson, from its notebooks and its questions."""
    placed = tasks_of(notebook["cells"])
    prose = [cell for cell in markdown_cells(notebook) if not {QUESTION, HINTS} & set(tags(cell))]
    said = [text for task in placed for text in _said(task)]
    return Count(
        lesson.number,
        cells=sum(len(source(cell).split()) for cell in prose),
        questions=sum(len(text.split()) for each in asked.values() for text in words_of(each)),
        tasks=sum(len(text.split()) for text in said),
        code_lines=sum(map(_lines, code_cells(notebook))),
        placed=len(placed),
        typed=sum(task.par for task in placed),
        before=_before_the_first_answer(notebook, exercise),
    )


def _said(task: Task) -> tuple[str, ...]:
    return (*task.hints, task.meaning, task.compared, task.values.shows if task.values else "")


def counts(root: Path) -> list[Count]:
    """The numbers of all lessons of a checkout; their questions are those of this library."""
    found = []
    for lesson in LESSONS:
        exercise = root / "exercises" / f"{lesson.stem}.ipynb"
        found.append(
            count(
                lesson,
                read(root / "notebooks" / f"{lesson.stem}.ipynb"),
                read(exercise) if exercise.exists() else None,
                of_lesson(lesson.number),
            )
        )
    return found


def table(of_lessons: list[Count]) -> str:
    """The numbers as a table in Markdown, with their sum."""
    heads: tuple[str, ...] = ("lesson", "cells", "questions", "said by tasks", "all words")
    heads += ("code lines", "tasks", "typed lines", "cells before typing")
    rows = [heads, ("---",) * len(heads), *map(_row, of_lessons)]
    columns = list(zip(*map(_row, of_lessons), strict=True))[1:-1]
    rows.append(("all", *(sum(column) for column in columns), ""))
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def _row(each: Count) -> tuple[object, ...]:
    read_in_all = each.cells + each.questions + each.tasks
    before = "none typed" if each.before is None else each.before
    typing = (each.code_lines, each.placed, each.typed, before)
    return (each.lesson, each.cells, each.questions, each.tasks, read_in_all, *typing)


def _lines(cell: dict[str, object]) -> int:
    return sum(bool(line.strip()) for line in source(cell).splitlines())


def _before_the_first_answer(notebook: Notebook, exercise: Notebook | None) -> int | None:
    cells = notebook["cells"] + (exercise["cells"] if exercise else [])
    answers = (place for place, cell in enumerate(cells) if task_of(cell) or exercise_id(cell))
    return next(answers, None)


if __name__ == "__main__":
    print(table(counts(Path(sys.argv[1] if len(sys.argv) > 1 else "."))))
