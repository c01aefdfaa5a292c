"""A run's points for other graders: Gradescope's results.json, and nbgrader's own gradebook."""

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.building.release import check_name
from course_lib.grading.gradebook.tables import one_line, visible
from course_lib.grading.records import CannotGrade, GradebookRow
from course_lib.wording.findings import CODES
from course_lib.wording.sentences import whole

# --- What one student handed in, as Gradescope's autograder reports it ----------------------------
# The format is described at https://gradescope-autograders.readthedocs.io (Autograder
# Specifications): a test for each exercise, with score, max_score, status and output.


OPEN = "No points have been decided yet: a person will look at this answer."


def results_json(rows: Sequence[GradebookRow]) -> str:
    """The file's text, for the rows of one submission.

    Points that nobody has decided yet count as none, since Gradescope knows no open ones; the
    output says so. Late days are Gradescope's own business, and are not taken off here. Raises
    CannotGrade if the rows are those of several submissions, or of none.
    """
    if len({row.submission.key for row in rows}) != 1:
        raise CannotGrade("Gradescope's file is about one submission: name one student's folder.")
    tests = [_test(row) for row in rows if row.exercise]
    notes = [row.reason for row in rows if not row.exercise]
    said = "\n".join(map(one_line, [*notes, *_standing(rows)]))
    about = {"output": said or "Each answer was read and judged, and none of it was run."}
    score = sum(test["score"] for test in tests)
    return json.dumps({"score": score, **about, "visibility": "visible", "tests": tests}, indent=1)


def _test(row: GradebookRow) -> dict[str, Any]:
    full = row.points is not None and row.points == row.max_points
    return {
        "name": row.exercise,
        "score": float(row.points or 0),
        "max_score": float(row.max_points),
        "status": "passed" if full else "failed",
        "output_format": "text",
        "output": "\n".join(_lines(row)),
    }


def _lines(row: GradebookRow) -> list[str]:
    """What the student reads: the verdict, what was found at which line, and where to look."""
    lines = [one_line(row.reason)] + ([OPEN] if row.points is None else [])
    for found in row.judgement.findings if row.judgement else ():
        where = f"line {found.line}" if found.line is not None else "the answer"
        lines += [f"{where}: {CODES[found.code].title} [{found.code}]"]
        lines += [
            f"  {visible(whole(text, 'student'))}" for text in (found.message, found.hint) if text
        ]
    return lines + ([one_line(row.override.comment)] if row.override.comment else [])


def _standing(rows: Sequence[GradebookRow]) -> list[str]:
    comment = rows[0].standing.comment
    return [comment] if comment else []


# --- Points in the gradebook of nbgrader, by nbgrader's own interface -----------------------------
# `course.py release --nbgrader` names the cells, `nbgrader generate_assignment` makes the
# assignment of them, and this fills in the scores of its check cells.


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
