"""What one line places in a lesson, a task or a prediction; its cells are made from its own file.

An author writes a code cell that holds `# TASK put_seven` and nothing else. Building fills it with
what the student is given, puts the picture of what is wanted above it, and a check and the hints
below it. In place of `# PREDICT 00-same-line` it puts the question, and the call that takes the
guess. `solved` has the answers, and the right guesses.
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
from course_lib.curriculum import TASKS, Task
from course_lib.questions import find, predictions
from course_lib.questions.kinds import Choose, Question
from course_lib.questions.reveals import right_guess

ANSWER, PICTURE, CHECK, HINTS = "task", "task-picture", "task-check", "task-hints"
GUESS, QUESTION = "predict", "question"
FIGURE = "figure"  # the tag of every cell that draws one
MADE = {PICTURE, CHECK, HINTS, QUESTION}  # of cells around the one that an author has placed
_TASK = re.compile(r"# TASK ([A-Za-z_]\w*)")
_PREDICTION = re.compile(r'# PREDICT (\S+)|course_lib\.predict\("([^"\n]+)", .+\)')
_FOLD = "<details>\n<summary>Hint {}</summary>\n\n{}\n\n</details>"


def task_of(cell: Cell) -> Task | None:
    """The task that a cell places, by its first line.

    Raises:
        BuildError: if there is no such task.
    """
    lines = source(cell).splitlines()
    found = _TASK.fullmatch(lines[0].strip()) if lines and cell["cell_type"] == "code" else None
    if found is None:
        return None
    if found[1] not in TASKS:
        raise BuildError(f"there is no task {found[1]}; there are {', '.join(TASKS)}")
    return TASKS[found[1]]


def tasks_of(cells: Sequence[Cell]) -> list[Task]:
    """The tasks that cells place, in their order; a lesson that has any is written do-first."""
    return [task for cell in cells if (task := task_of(cell))]


def prediction_placed(cell: Cell) -> str | None:
    """The id of the prediction that a cell places: by the author's line, or as it was built."""
    if cell["cell_type"] != "code":
        return None
    found = _PREDICTION.fullmatch(source(cell).strip())
    return (found[1] or found[2]) if found else None


def with_placed(cells: Sequence[Cell], lesson: str) -> list[Cell]:
    """The cells of a lesson with those of its tasks and predictions, as the student gets them.

    Raises:
        BuildError: for one that does not exist, stands twice, or belongs to another lesson.
    """
    stored = {cell["id"]: cell for cell in cells if "id" in cell}
    made: list[Cell] = []
    placed: set[str] = set()
    for cell in cells:
        asked = task_of(cell) or _prediction_of(cell, lesson)
        if asked is None:
            made += [] if MADE & set(tags(cell)) else [cell]
            continue
        what = f"the {'task' if isinstance(asked, Task) else 'prediction'} {asked.id}"
        if asked.id in placed:
            raise BuildError(f"cell {cell.get('id', asked.id)}: {what} is there twice")
        if isinstance(asked, Task) and asked.lesson != lesson:
            raise BuildError(f"{what} belongs to lesson {asked.lesson}")
        placed.add(asked.id)
        made += [with_outputs_of(stored, fresh) for fresh in _cells_of(asked)]
    return made


def solved(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a lesson with the answers to its tasks, and the right guesses."""
    made = []
    for cell in cells:
        if task := task_of(cell):
            cell = {**cell, "source": _marked(task, task.answer)}
        elif name := prediction_placed(cell):
            cell = {**cell, "source": _call(name, right_guess(find(name)))}
        made.append(cell)
    return made


def in_markdown(question: Question) -> str:
    """A question as a cell of a lesson shows it, with its lettered choices."""
    parts = [f"**Predict.** {question.asks}"]
    if question.code:
        parts.append(f"```python\n{question.code.strip()}\n```")
    if isinstance(question, Choose):
        letters = question.lettered().items()
        parts.append("\n".join(f"- **{letter})** {choice.words}" for letter, choice in letters))
    return "\n\n".join(parts)


def _prediction_of(cell: Cell, lesson: str) -> Question | None:
    name = prediction_placed(cell)
    if name is None:
        return None
    if name not in predictions(lesson):
        known = ", ".join(predictions(lesson)) or "none"
        raise BuildError(
            f"cell {cell.get('id', name)}: lesson {lesson} has no prediction {name} in "
            f"course_lib/questions (a question with a reveal); it has {known}"
        )
    return predictions(lesson)[name]


def _cells_of(asked: Task | Question) -> list[Cell]:
    if isinstance(asked, Question):
        return [
            markdown(in_markdown(asked), QUESTION, id=f"question-{asked.id}"),
            code(_call(asked.id, "..."), GUESS, id=f"predict-{asked.id}"),
        ]
    hints = (_FOLD.format(number, hint) for number, hint in enumerate(asked.hints, start=1))
    call = f'figures.wanted("{asked.id}")'
    picture = code(call, FIGURE, PICTURE, id=f"wanted-{asked.id}")
    return [
        *[picture] * asked.has_picture,
        code(_marked(asked, asked.given), ANSWER, id=f"task-{asked.id}"),
        code(asked.check_call, CHECK, id=f"check-{asked.id}"),
        markdown("\n\n".join(hints), HINTS, id=f"hints-{asked.id}"),
    ]


def _marked(task: Task, text: str) -> str:
    return f"# TASK {task.id}\n{text.strip()}"


def _call(name: str, guess: str) -> str:
    return f'course_lib.predict("{name}", {guess})'
