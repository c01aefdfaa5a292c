"""What a student is shown, piece by piece, in the order of the course.

The README's first screen comes first, then each lesson with what its cells print and what its
questions and tasks say, then its exercises. Notebooks are read as they are stored; what a question
computes is computed.
"""

import functools
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lesson_rules.quick_checks import asked_in

from course_lib.building.notebook import Cell, read, source, tags
from course_lib.building.outputs import alt_text, text_of
from course_lib.building.placed import QUESTION, prediction_placed, task_of
from course_lib.curriculum import LESSONS, Lesson, Task
from course_lib.questions import of_lesson
from course_lib.questions.kinds import Choose, Question
from course_lib.questions.reveals import revealed

_INVISIBLE = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class ShownPiece:
    """Something that is read at once.

    Attributes:
        lesson: its number; none for the README.
        where: the file and cell, for a complaint.
        text: the words, code included.
        reveals: the id of the prediction that it reveals, if it reveals one.
    """

    lesson: str
    where: str
    text: str
    reveals: str = ""


def in_order(root: Path, lessons: Sequence[Lesson] = LESSONS) -> Iterator[ShownPiece]:
    """Everything that is shown, from the front page on.

    Args:
        root: the folder of the course.
        lessons: which ones, in their order.
    """
    front, _, _ = (root / "README.md").read_text(encoding="utf-8").partition("\n## ")
    yield ShownPiece("", "README.md", front)
    titles = "\n".join(each.title for each in lessons)
    yield ShownPiece("", "the titles of the lessons", titles)
    for lesson in lessons:
        questions = of_lesson(lesson.number)
        for folder in ("notebooks", "exercises") if lesson.exercises else ("notebooks",):
            path = root / folder / f"{lesson.stem}.ipynb"
            for cell in read(path)["cells"]:
                where = f"{folder}/{path.name}, cell {cell['id']}"
                for text, reveals in _of_cell(cell, questions):
                    yield ShownPiece(lesson.number, where, text, reveals)


@functools.cache
def words_of(question: Question) -> tuple[str, ...]:
    """What a question says, each sentence once: itself, its choices, reasons, hint and reveal."""
    said = [question.asks]
    if isinstance(question, Choose):
        said += [choice.words for choice in question.choices]
    said += [why for _, _, why in question.rows()]
    said += [question.otherwise(), question.hint]
    if question.is_prediction:
        said.append(revealed(question))
    return tuple(dict.fromkeys(filter(None, said)))


def said_on_passing(task: Task) -> str:
    seen = task.values.shows if task.values else ""
    return "\n\n".join(filter(None, (task.meaning, seen, task.another, task.compared)))


def _of_cell(cell: Cell, questions: Mapping[str, Question]) -> Iterator[tuple[str, str]]:
    """The texts of a cell, each with the prediction that it reveals."""
    if QUESTION in tags(cell):  # its choices are no spoilers: one of them is right
        question = questions[cell["id"].removeprefix(f"{QUESTION}-")]
        yield f"{question.asks}\n\n{question.code}", ""
        return
    yield source(cell), ""
    for output in cell.get("outputs", []):
        yield _words_of_output(output), ""
    for name in asked_in(cell):
        yield "\n\n".join([questions[name].code, *words_of(questions[name])]), ""
    if predicted := prediction_placed(cell):
        yield "\n\n".join(words_of(questions[predicted])), predicted
    if task := task_of(cell):
        yield said_on_passing(task), ""


def _words_of_output(output: Mapping[str, Any]) -> str:
    """What an output says: as text, to somebody who cannot see it, and as a page."""
    page = output.get("data", {}).get("text/html", "")
    page = page if isinstance(page, str) else "".join(page)
    visible = html.unescape(_TAG.sub(" ", _INVISIBLE.sub(" ", page)))
    return "\n".join((text_of(output), alt_text(output), visible))
