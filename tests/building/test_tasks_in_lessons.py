"""One line places a task in a lesson; its cells come from the task's own file."""

from __future__ import annotations

import ast

import pytest
from every_case import every_case
from lesson_rules.rules import common_rules

from course_lib.building.generated import with_generated_cells
from course_lib.building.notebook import (
    BuildError,
    Cell,
    canonical,
    code,
    markdown,
    new,
    source,
    tags,
)
from course_lib.building.project import Project
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


@every_case("task", TASKS.values(), ids=lambda each: each.id)
def test_a_picture_stands_where_one_can_be_drawn(task: Task) -> None:
    cells = with_tasks(lesson(task.id), task.lesson)
    assert any(cell["id"] == f"wanted-{task.id}" for cell in cells) == task.has_picture


def test_building_again_changes_nothing_and_outputs_stay(course: Project) -> None:
    once = with_generated_cells(lesson("put_seven"), course, course.lessons[0], "notebooks")
    for place, name in enumerate(("check-put_seven", "wanted-put_seven")):
        ran = named(once, name)
        ran["execution_count"], ran["outputs"] = place, [{"output_type": "stream", "text": "no"}]
    again = with_generated_cells(once, course, course.lessons[0], "notebooks")
    assert canonical(new(again)) == canonical(new(once))
    said = list(common_rules(canonical(new(again))))
    assert not [each for each in said if "tag" in each], said


@pytest.mark.parametrize(
    ("placed", "number", "words"),
    [
        (("put_eight",), "00", "there is no task put_eight"),
        (("put_seven", "put_seven"), "00", "is there twice"),
        (("put_seven",), "01", "belongs to lesson 00"),
    ],
)
def test_a_task_that_cannot_stand_there_is_told(
    placed: tuple[str, ...], number: str, words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        with_tasks(lesson(*placed), number)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_the_solved_lesson_holds(task: Task) -> None:
    cells = solved(with_tasks(lesson(task.id), task.lesson))
    answer = source(named(cells, f"task-{task.id}"))
    ast.parse(answer)
    assert answer.endswith(f"\n{task.answer.rstrip()}")  # which passes: tests/tasks
    assert solved(cells) == cells and with_tasks(cells, task.lesson) != cells
