"""Answers in words: cells that an instructor has marked, handed on to be read by a person.

A cell of the exercise notebook holds `<!-- QUESTION why-two-barriers -->`, which a browser doesn't
show, and perhaps a line to write below. What a student leaves in the cell of this mark is the
answer. Nobody judges it here; the course's file says what it is worth.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.building.exercises import exercise_id
from course_lib.building.notebook import BuildError, read, source
from course_lib.grading.errors import CannotGrade
from course_lib.grading.records import FoundAnswer, Submission

MARK = re.compile(r"<!--\s*QUESTION\s+([A-Za-z0-9_-]{1,60})\s*-->")
MOST_CHARACTERS = 20_000  # of an answer


@dataclass(frozen=True)
class TextQuestion:
    """A question that is answered in words.

    Attributes:
        id: the word in its mark.
        notebook: the name of the file it stands in, without the suffix.
        statement: the cell of text above its own.
        given: what stands in its cell before a student writes.
        beside: the exercises of its notebook; it is asked with these, or always if there are none.
    """

    id: str
    notebook: str
    statement: str
    given: str
    beside: frozenset[str]


def read_questions(folder: Path, ids: Collection[str]) -> dict[str, TextQuestion]:
    """The questions of these ids, from the instructor's exercise notebooks.

    Raises:
        CannotGrade: if one stands in no notebook, or in two places.
    """
    found: dict[str, TextQuestion] = {}
    for path in sorted(folder.glob("*.ipynb")) if ids else ():
        for each in _of_notebook(path):
            if each.id in found:
                raise CannotGrade(
                    f"The question {each.id} stands twice in {folder}: in {found[each.id].notebook}"
                    f".ipynb and in {path.name}; leave one of them there."
                )
            found[each.id] = each
    lost = next((name for name in ids if name not in found), None)
    if lost is not None:
        raise CannotGrade(
            f"No notebook in {folder} asks {lost}: write <!-- QUESTION {lost} --> into the cell of "
            "text that takes the answer, or take it out of [questions]."
        )
    return {name: found[name] for name in ids}


def _of_notebook(path: Path) -> Iterator[TextQuestion]:
    try:
        cells = read(path)["cells"]
        beside = frozenset(filter(None, map(exercise_id, cells)))
        texts = [source(each) if each["cell_type"] == "markdown" else "" for each in cells]
    except (OSError, BuildError, KeyError, TypeError):
        return  # the assignment, which is read first, has complained
    above = ""
    for text in texts:
        mark = MARK.search(text)
        if mark:
            yield TextQuestion(mark[1], path.stem, above, _written(text), beside)
        elif text:
            above = text


def _written(text: str) -> str:
    """What a cell says without its mark."""
    return MARK.sub("", text).strip()


def asked_of(
    questions: Mapping[str, TextQuestion], exercises: Collection[str]
) -> Iterator[TextQuestion]:
    """The questions that go with these exercises."""
    for each in questions.values():
        if not each.beside or each.beside & set(exercises):
            yield each


def text_answer(submission: Submission, question: TextQuestion) -> FoundAnswer:
    """What a student has written; of several cells with the mark, the last that says something."""
    for file in reversed(submission.files):
        for cell in reversed(file.cells):
            marks = MARK.findall(cell.text)
            text = _written(cell.text)
            if question.id not in marks or not text or text.split() == question.given.split():
                continue
            found = text[:MOST_CHARACTERS]
            return FoundAnswer(question.id, found, file=file.label, cell=cell.number)
    unread: Sequence[str] = [
        file.problem for file in submission.files if file.is_unread and file.problem
    ]
    if unread:
        return FoundAnswer(question.id, problem=unread[0], needs_review=True)
    return FoundAnswer(question.id, problem=f"Nothing is written as the answer to {question.id}.")
