"""One line places a task in a lesson; its cells come from the task's own file."""

from __future__ import annotations

import ast

import pytest

from course_lib.building.notebook import BuildError, Cell, code, markdown, source, tags
from course_lib.building.tasks import solved, with_tasks
from course_lib.curriculum import TASKS, Task

TASK = TASKS["put_seven"]


def lesson(*placed: str) -> list[Cell]:
    lines = [code(f"# TASK {name}", id=f"t{n}") for n, name in enumerate(placed)]
    imports = "from numba import cuda, float32\nfrom course_lib import figures"
    return [code(imports, id="i"), *lines, markdown("Next.", id="n")]


def named(cells: list[Cell], name: str) -> Cell:
    return next(cell for cell in cells if cell["id"] == name)


def test_a_line_becomes_a_picture_the_given_code_a_check_and_the_hints() -> None:
    _, picture, answer, check, hints, after = with_tasks(lesson("put_seven"), "00")
    assert source(picture) == 'figures.wanted("put_seven")'
    assert "figure" in tags(picture)
    assert source(answer) == f"# TASK put_seven\n{TASK.given.strip()}"
    assert source(check) == 'course_lib.check("put_seven", put_seven)'
    assert source(hints).count("<summary>Hint ") == len(TASK.hints) == 2
    assert source(after) == "Next."


@pytest.mark.parametrize(
    ("placed", "number", "words"),
    [
        (("put_eight",), "00", "there is no task put_eight"),
        (("put_seven", "put_seven"), "00", "is there twice"),
        (("put_seven",), "01", "belongs to lesson 00"),
    ],
)
def test_a_task_that_cannot_stand_there_is_told(placed, number, words):
    with pytest.raises(BuildError, match=words):
        with_tasks(lesson(*placed), number)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_the_solved_lesson_holds(task: Task) -> None:
    cells = solved(with_tasks(lesson(task.id), task.lesson))
    answer = source(named(cells, f"task-{task.id}"))
    ast.parse(answer)
    assert answer.endswith(f"\n{task.answer.rstrip()}")  # which passes: tests/tasks
    assert solved(cells) == cells and with_tasks(cells, task.lesson) != cells
