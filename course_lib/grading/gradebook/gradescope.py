"""What one student handed in, as Gradescope's autograder reports it: results.json.

The format is described at https://gradescope-autograders.readthedocs.io (Autograder
Specifications): a test for each exercise, with score, max_score, status and output.
"""

import json
from collections.abc import Sequence
from typing import Any

from course_lib.grading.gradebook.tables import one_line, visible
from course_lib.grading.records import CannotGrade, GradebookRow
from course_lib.wording.findings import CODES
from course_lib.wording.sentences import whole

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
            f"  {visible(whole(each, 'student'))}" for each in (found.message, found.hint) if each
        ]
    return lines + ([one_line(row.override.comment)] if row.override.comment else [])


def _standing(rows: Sequence[GradebookRow]) -> list[str]:
    comment = rows[0].standing.comment
    return [comment] if comment else []
