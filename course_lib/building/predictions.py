"""The predictions of a lesson: one line places one, and its cells are made from the question.

An author writes a code cell that holds `# PREDICT 00-same-line` and nothing else. Building puts the
question above it, and the call that takes the guess in its place; `guessed` has right guesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_lib.building.notebook import (
    BuildError,
    Cell,
    code,
    markdown,
    source,
    tags,
    with_outputs_of,
)
from course_lib.questions import predictions
from course_lib.questions.kinds import Choose, Question
from course_lib.questions.reveals import right_guess

TAGS = GUESS, QUESTION = "predict", "question"
_MARKER = re.compile(r'# PREDICT (\S+)|course_lib\.predict\("([^"\n]+)", .+\)')


def prediction_placed(cell: Cell) -> str | None:
    """The id of the prediction that a cell places: by the author's line, or as it was built."""
    if cell["cell_type"] != "code":
        return None
    found = _MARKER.fullmatch(source(cell).strip())
    return (found[1] or found[2]) if found else None


def with_predictions(cells: Sequence[Cell], lesson: str) -> list[Cell]:
    """The cells of a lesson with those of its predictions, as the student gets them.

    Raises:
        BuildError: for a prediction that the lesson does not have, or that stands twice.
    """
    stored = {cell["id"]: cell for cell in cells if "id" in cell}
    made: list[Cell] = []
    placed: set[str] = set()
    for cell in cells:
        name = prediction_placed(cell)
        if name is None:
            made += [] if QUESTION in tags(cell) else [cell]
            continue
        where = f"cell {cell.get('id', name)}"
        if name not in predictions(lesson):
            known = ", ".join(predictions(lesson)) or "none"
            raise BuildError(
                f"{where}: lesson {lesson} has no prediction {name} in course_lib/questions "
                f"(a question with a reveal); it has {known}"
            )
        if name in placed:
            raise BuildError(f"{where}: the prediction {name} is there twice")
        placed.add(name)
        question, guess = _cells_of(predictions(lesson)[name])
        made += [question, with_outputs_of(stored, guess)]
    return made


def guessed(cells: Sequence[Cell], lesson: str) -> list[Cell]:
    """The cells of a lesson with the right guess in place of the dots."""
    return [
        cell
        if (name := prediction_placed(cell)) is None
        else {**cell, "source": _call(name, right_guess(predictions(lesson)[name]))}
        for cell in cells
    ]


def in_markdown(question: Question) -> str:
    """A question as a cell of a lesson shows it, with its lettered choices."""
    parts = [f"**Predict.** {question.asks}"]
    if question.code:
        parts.append(f"```python\n{question.code.strip()}\n```")
    if isinstance(question, Choose):
        letters = question.lettered().items()
        parts.append("\n".join(f"- **{letter})** {choice.words}" for letter, choice in letters))
    return "\n\n".join(parts)


def _cells_of(question: Question) -> tuple[Cell, Cell]:
    return (
        markdown(in_markdown(question), QUESTION, id=f"question-{question.id}"),
        code(_call(question.id, "..."), GUESS, id=f"predict-{question.id}"),
    )


def _call(name: str, guess: str) -> str:
    return f'course_lib.predict("{name}", {guess})'
