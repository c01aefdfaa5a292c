"""A release for an exam: no hints, and a check that says whether, and not why."""

from pathlib import Path

import pytest
from child import python

from course_lib.building.notebook import read, source
from course_lib.commands import release
from course_lib.student import exam

ASKED = """
import course_lib
from numba import cuda, float32

course_lib.show_answer("double_matrix")
"""
TRIED = """
@cuda.jit
def matmul_naive(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32({start})
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total

course_lib.check("matmul_naive", matmul_naive)
"""


@pytest.fixture(scope="module")
def exam_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exam") / "course"
    assert release.main(["--out", str(folder), "--lessons", "02", "--exam"]) == 0
    return folder


def test_the_exercises_of_an_exam_hold_no_hints(exam_copy: Path) -> None:
    texts = [source(cell) for cell in read(exam_copy / "exercises/02_naive_matmul.ipynb")["cells"]]
    assert not [text for text in texts if "Hint" in text or "hint" in text]
    assert any(text.startswith("# EXERCISE matmul_naive") for text in texts)


@pytest.mark.slow
def test_a_check_says_whether_and_not_why(exam_copy: Path) -> None:
    script = exam_copy / "try.py"
    script.write_text(ASKED + TRIED.format(start=0) + TRIED.format(start=1))
    ran = python(script, cwd=exam_copy, status=None, PYTHONPATH=str(exam_copy))
    said = [exam.WHY_NOT, "matmul_naive: right", "matmul_naive: not right"]
    assert ran.stdout.splitlines() == said
    assert ran.stderr.splitlines()[-1].endswith(f"matmul_naive is not right. {exam.WHY_NOT}")
