"""Write points into the gradebook of nbgrader, by nbgrader's own interface.

`course.py release --nbgrader` names the cells, `nbgrader generate_assignment` makes the assignment
of them, and this fills in the scores of its check cells.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.building.release import check_name
from course_lib.grading.records import CannotGrade, GradebookRow


def write_scores(rows: Sequence[GradebookRow], database: Path, assignment: str) -> list[str]:
    """Set the automatic score of every row that has points.

    A student whom the gradebook does not know is added. Where no points are decided yet, nbgrader
    is told that somebody has to look. The result has a sentence for each exercise that is no part
    of the assignment. Raises CannotGrade if nbgrader or the gradebook is not here, the assignment
    is not in it, or an exercise is worth another number of points there.
    """
    if not database.is_file():
        raise CannotGrade(
            f"{database} does not exist; `nbgrader generate_assignment {assignment}` creates it."
        )
    try:
        api = importlib.import_module("nbgrader.api")
    except ImportError:
        raise CannotGrade(
            "nbgrader is not installed together with the course. Use the Python that has nbgrader, "
            "and run `python -m course_lib.cli grade …` (it also needs what `pip install -e "
            ".[grade]` installs)."
        ) from None
    with api.Gradebook(f"sqlite:///{database}") as gradebook:
        homes = _homes(api, gradebook, assignment)
        _check_points(rows, homes, assignment)
        for row in rows:
            if row.exercise in homes:
                _set(gradebook, row, homes[row.exercise][0], assignment)
        gradebook.db.commit()
    outside = sorted({row.exercise for row in rows if row.exercise} - homes.keys())
    return [f"{name} is not part of {assignment} in {database}." for name in outside]


def _homes(api: Any, gradebook: Any, assignment: str) -> dict[str, tuple[str, float]]:
    """By exercise: the notebook that checks it in the assignment, and its points there."""
    try:
        notebooks = gradebook.find_assignment(assignment).notebooks
    except api.MissingEntry:
        there = ", ".join(sorted(found.name for found in gradebook.assignments)) or "none"
        raise CannotGrade(f"nbgrader has no assignment {assignment!r}; it has {there}.") from None
    prefix = check_name("")
    return {
        cell.name.removeprefix(prefix): (notebook.name, float(cell.max_score))
        for notebook in notebooks
        for cell in notebook.grade_cells
        if cell.name.startswith(prefix)
    }


def _check_points(
    rows: Sequence[GradebookRow], homes: dict[str, tuple[str, float]], assignment: str
) -> None:
    for row in rows:
        if row.exercise in homes and float(row.max_points) != homes[row.exercise][1]:
            raise CannotGrade(
                f"{row.exercise} is worth {row.max_points} points here and "
                f"{homes[row.exercise][1]:g} in nbgrader's {assignment}: use the same settings for "
                "`release --nbgrader` and `grade`."
            )


def _set(gradebook: Any, row: GradebookRow, notebook: str, assignment: str) -> None:
    student = row.submission.student
    gradebook.update_or_create_student(student)
    gradebook.update_or_create_submission(assignment, student)
    grade = gradebook.find_grade(check_name(row.exercise), notebook, assignment, student)
    grade.auto_score = None if row.points is None else float(row.points)
    grade.needs_manual_grade = row.points is None
