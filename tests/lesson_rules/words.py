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
    markdown_cells,
    read,
    source,
    tags,
)
from course_lib.building.placed import HINTS, QUESTION, tasks_of  # noqa: E402
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
    """

    lesson: str
    cells: int
    questions: int
    tasks: int
    code_lines: int
    placed: int
    typed: int


def count(lesson: Lesson, notebook: Notebook, asked: Mapping[str, Question]) -> Count:
    """The numbers of one lesson, from its notebook and its questions."""
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
    )


def _said(task: Task) -> tuple[str, ...]:
    return (*task.hints, task.meaning, task.compared, task.values.shows if task.values else "")


def counts(root: Path) -> list[Count]:
    """The numbers of all lessons of a checkout; their questions are those of this library."""
    paths = [root / "notebooks" / f"{each.stem}.ipynb" for each in LESSONS]
    return [
        count(lesson, read(path), of_lesson(lesson.number))
        for lesson, path in zip(LESSONS, paths, strict=True)
    ]


def table(of_lessons: list[Count]) -> str:
    """The numbers as a table in Markdown, with their sum."""
    heads = ("cells", "questions", "said by tasks", "all words", "code lines", "tasks", "typed")
    numbers = list(map(_numbers, of_lessons))
    rows: list[tuple[object, ...]] = [("lesson", *heads), ("---",) * (1 + len(heads))]
    rows += [(each.lesson, *row) for each, row in zip(of_lessons, numbers, strict=True)]
    rows.append(("all", *map(sum, zip(*numbers, strict=True))))
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def _numbers(each: Count) -> tuple[int, ...]:
    read_in_all = each.cells + each.questions + each.tasks
    typing = (each.code_lines, each.placed, each.typed)
    return (each.cells, each.questions, each.tasks, read_in_all, *typing)


def _lines(cell: dict[str, object]) -> int:
    return sum(bool(line.strip()) for line in source(cell).splitlines())


if __name__ == "__main__":
    print(table(counts(Path(sys.argv[1] if len(sys.argv) > 1 else "."))))
