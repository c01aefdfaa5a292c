"""The tasks of a lesson: one line places a task, and its cells are made from the task's own file.

An author writes a code cell that holds `# TASK put_seven` and nothing else. Building fills it with
what the student is given, puts the picture of what is wanted above it, and a check and the hints
below it; `solved` has the answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_lib.building.notebook import BuildError, Cell, code, markdown, source, tags
from course_lib.curriculum import TASKS, Task

TAGS = ANSWER, PICTURE, CHECK, HINTS = "task", "task-picture", "task-check", "task-hints"
FIGURE = "figure"  # the tag of every cell that draws one
_MARKER = re.compile(r"# TASK ([A-Za-z_]\w*)")
_FOLD = "<details>\n<summary>Hint {}</summary>\n\n{}\n\n</details>"


def task_of(cell: Cell) -> Task | None:
    """The task that a cell places, by its first line.

    Raises:
        BuildError: if there is no such task.
    """
    lines = source(cell).splitlines()
    found = _MARKER.fullmatch(lines[0].strip()) if lines and cell["cell_type"] == "code" else None
    if found is None:
        return None
    if found[1] not in TASKS:
        raise BuildError(f"there is no task {found[1]}; there are {', '.join(TASKS)}")
    return TASKS[found[1]]


def tasks_of(cells: Sequence[Cell]) -> list[Task]:
    """The tasks that cells place, in their order; a lesson that has any is written do-first."""
    return [task for cell in cells if (task := task_of(cell))]


def with_tasks(cells: Sequence[Cell], lesson: str) -> list[Cell]:
    """The cells of a lesson with those of its tasks, as the student gets them.

    Raises:
        BuildError: for a task that does not exist, stands twice, or belongs to another lesson.
    """
    stored = {cell["id"]: cell for cell in cells}
    made: list[Cell] = []
    placed: set[str] = set()
    for cell in cells:
        task = task_of(cell)
        if task is None:
            made += [] if {PICTURE, CHECK, HINTS} & set(tags(cell)) else [cell]
            continue
        if task.id in placed:
            raise BuildError(f"the task {task.id} is there twice")
        if task.lesson != lesson:
            raise BuildError(f"the task {task.id} belongs to lesson {task.lesson}")
        placed.add(task.id)
        made += [_with_outputs(each, stored) for each in _cells_of(task)]
    return made


def solved(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a lesson with the answers to its tasks in place of what is given."""
    return [
        cell if (task := task_of(cell)) is None else {**cell, "source": _marked(task, task.answer)}
        for cell in cells
    ]


def _cells_of(task: Task) -> list[Cell]:
    hints = (_FOLD.format(number, hint) for number, hint in enumerate(task.hints, start=1))
    call = f'figures.wanted("{task.id}")'
    picture = code(call, FIGURE, PICTURE, id=f"wanted-{task.id}")
    return [
        *[picture] * task.has_picture,
        code(_marked(task, task.given), ANSWER, id=f"task-{task.id}"),
        code(task.check_call, CHECK, id=f"check-{task.id}"),
        markdown("\n\n".join(hints), HINTS, id=f"hints-{task.id}"),
    ]


def _marked(task: Task, text: str) -> str:
    return f"# TASK {task.id}\n{text.strip()}"


def _with_outputs(cell: Cell, stored: dict[str, Cell]) -> Cell:
    """A cell with the outputs that the one before it had, which are carried along."""
    before = stored.get(cell["id"], {})
    return cell | {key: before[key] for key in ("execution_count", "outputs") if key in before}
