"""Say to nbgrader which cells of an exercise notebook check answers, and what they are worth.

nbgrader's cell metadata, schema version 3: https://nbgrader.readthedocs.io, "Metadata". Its
gradebook knows such a cell as `check-` and the exercise's id. Cells for answers are not declared:
nbgrader would empty them when it generates the assignment, and they hold no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from course_lib.building.notebook import Cell, Notebook, exercise_id, source

SCHEMA = 3
_CHECK = re.compile(r"""^course_lib\.check\(\s*["'](\w+)["']""", re.MULTILINE)


def check_name(exercise: str) -> str:
    """What nbgrader calls the cell that checks an exercise."""
    return f"check-{exercise}"


def declared(notebook: Notebook, points: Callable[[str], float]) -> Notebook:
    """The notebook with nbgrader's metadata on the cells that check its exercises.

    Args:
        notebook: an exercise notebook.
        points: how many an exercise is worth.
    """
    asked = {exercise_id(cell) for cell in notebook["cells"]} - {None}
    cells = [_declared_cell(cell, asked, points) for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def _declared_cell(cell: Cell, asked: set[str | None], points: Callable[[str], float]) -> Cell:
    checks = _CHECK.search(source(cell)) if cell["cell_type"] == "code" else None
    if checks is None or checks[1] not in asked:
        return cell
    said = {
        "schema_version": SCHEMA,
        "grade_id": check_name(checks[1]),
        "grade": True,
        "locked": True,
        "solution": False,
        "task": False,
        "points": points(checks[1]),
    }
    return {**cell, "metadata": {**cell["metadata"], "nbgrader": said}}
