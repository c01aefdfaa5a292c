"""Reads the instructor's exercise notebooks: the frame in which answers are judged."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.curriculum import TASKS, lesson
from course_lib.grading.errors import CannotGrade
from course_lib.grading.graded import FORMER, GRADED

_MARKER = re.compile(r"^#\s*EXERCISE\s+(\w+)\s*$", re.MULTILINE)
# Cells that are no part of what an answer builds on.
IMPORTS = "import numpy as np\nfrom numba import cuda, float32"
_TAGS_LEFT_OUT = {"setup", "exercise", "check", "figure"}


@dataclass(frozen=True)
class Task:
    """One exercise as it stands in the instructor's notebook.

    Attributes:
        exercise: the id.
        notebook: the name of the file, without the suffix.
        title: the notebook's first cell of text.
        statement: the cell of text that says what to do.
        context: the code above the answer: imports, constants, helpers.
        stub: the answer cell as students get it.
        is_former: it is of an earlier edition, and asked only of those who have answered it.
    """

    exercise: str
    notebook: str
    title: str
    statement: str
    context: str
    stub: str = ""
    is_former: bool = False


def read_tasks(folder: Path) -> dict[str, Task]:
    """Every exercise of the notebooks in a folder, by id, and those of earlier editions.

    Raises:
        CannotGrade: if there is none, or a notebook cannot be read.
    """
    if not folder.is_dir():
        raise CannotGrade(
            f"There is no folder {folder} with the exercise notebooks; name yours with --notebooks."
        )
    tasks: dict[str, Task] = {}
    for path in sorted(folder.glob("*.ipynb")):
        for task in _tasks_of(path):
            if task.exercise in tasks:
                other = tasks[task.exercise].notebook
                raise CannotGrade(
                    f"{task.exercise} stands in two notebooks of {folder}: {other}.ipynb and "
                    f"{path.name}; leave one of them there."
                )
            tasks[task.exercise] = task
    if not tasks:
        raise CannotGrade(
            f"No notebook in {folder} has an exercise (a code cell that begins with "
            "`# EXERCISE` and an id); name your folder with --notebooks."
        )
    return {**{name: _former(name) for name in FORMER}, **tasks}


def _former(name: str) -> Task:
    """An exercise of an earlier edition, whose notebook there need not be any more."""
    task = TASKS[name]
    notebook = lesson(task.lesson).stem
    statement = f"## {task.title}\n\nAn exercise of an earlier edition of the course."
    return Task(name, notebook, f"# {task.title}", statement, IMPORTS, task.given, is_former=True)


def _tasks_of(path: Path) -> list[Task]:
    cells = _cells(path)
    title = next((text for kind, text, _ in cells if kind == "markdown"), path.stem)
    tasks: list[Task] = []
    statement = ""
    above: list[str] = []
    for kind, text, tags in cells:
        found = _MARKER.search(text) if kind == "code" else None
        if found and found.group(1) in GRADED:
            context = "\n\n".join(above)
            tasks.append(Task(found.group(1), path.stem, title, statement, context, text))
            statement = ""
        elif kind == "markdown" and _begins_exercise(text, statement):
            statement = text
        elif kind == "code" and not tags & _TAGS_LEFT_OUT:
            above.append(text)
    return tasks


def _begins_exercise(text: str, before: str) -> bool:
    """Is this the section that states an exercise? Its heading may say so; else the first is."""
    return text.startswith("## Exercise") or (text.startswith("## ") and not before)


def _cells(path: Path) -> list[tuple[str, str, set[str]]]:
    """Kind, text and tags of each cell."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return [_cell(cell) for cell in notebook["cells"]]
    except OSError as problem:
        raise CannotGrade(f"{path} cannot be read: {problem.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise CannotGrade(f"{path} is no notebook that can be read: {problem}.") from None


def _cell(cell: dict[str, Any]) -> tuple[str, str, set[str]]:
    return cell["cell_type"], "".join(cell["source"]), set(cell.get("metadata", {}).get("tags", []))
