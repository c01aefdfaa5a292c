"""Rows as grading makes them, for the tests of what is written from them."""

from course_lib.grading.gradebook.scoring import score
from course_lib.grading.records import (
    FoundAnswer,
    GradebookRow,
    Judgement,
    Submission,
    SubmittedFile,
)
from course_lib.grading.settings import Settings
from course_lib.wording.findings import finding
from course_lib.wording.sentences import with_values

SETTINGS = Settings()

TILED = """\
TILE = 16
@cuda.jit
def matmul_tiled(A, B, C):
    col, row = cuda.grid(2)
    if row < 3 and "<script>alert(1)</script>":
        C[row, col] = 0.0  # \u202etxet neddih\u202c and \x1b[31mred
"""

RIGHT = Judgement("matmul_tiled", held=("no races",), numbers_right=True, right_where_even=True)
RACY = Judgement("matmul_tiled", findings=(
    finding(
            "race-read-after-write",
            with_values(
                "thread (0, 1) reads sA[0, 0] <b>too early</b>",
                "C[0, 3] is 1.5 and should be -2.25e-05",
            ),
            5,
            "Where does the barrier stand?",
        ),
    finding("excess-barriers", "Each block passes 9 barriers.", 6),
), held=("C = A @ B on all 9 shapes",), numbers_right=True, right_where_even=True)  # fmt: skip
UNEVEN = Judgement("matmul_tiled", findings=(
    finding("wrong-loop-bound", "the partial tile is left out", 4),
), right_where_even=True)  # fmt: skip
WRONG = Judgement("matmul_tiled", findings=(finding("wrong-result", "Wrong.", None),))
UNSUPPORTED = Judgement("matmul_tiled", findings=(
    finding("unsupported", "The emulator does not support \x1b[2J this.\n" * 3, 2),
), needs_review=True)  # fmt: skip


def submission(key: str, student: str | None = None, **more: object) -> Submission:
    files = (SubmittedFile(f"{key}/05.ipynb"),)
    return Submission(student or key, key, files, **more)


def answer(text: str = TILED, **more: object) -> FoundAnswer:
    return FoundAnswer("matmul_tiled", text, file="s/05.ipynb", cell=9, **more)


def row(
    key: str, judged: Judgement | None = RIGHT, settings: Settings = SETTINGS, **more: object
) -> GradebookRow:
    return score(submission(key, **more), answer(), judged, settings)


def missing(
    key: str, exercise: str = "mat_add", why: str = "There is no cell for it."
) -> GradebookRow:
    return score(submission(key), FoundAnswer(exercise, problem=why), None, SETTINGS)


def a_class() -> list[GradebookRow]:
    """A small class with a row of every verdict."""
    judged = {"s01": RIGHT, "s02": RACY, "s03": UNEVEN, "s04": WRONG, "s05": UNSUPPORTED}
    rows = [row(key, judgement) for key, judgement in judged.items()]
    return rows + [missing(key) for key in judged]
