"""A release for an exam: no hints, and a check that says whether, and not why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.building.notebook import read, source
from course_lib.commands import release
from course_lib.student import exam

TRIES = """
import course_lib
from numba import cuda, float32

@cuda.jit
def matmul_naive(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32({start})
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total

course_lib.show_answer("double_matrix")
course_lib.check("matmul_naive", matmul_naive)
"""


@pytest.fixture(scope="module")
def exam_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exam") / "course"
    assert release.main(["--out", str(folder), "--lessons", "02", "--exam"]) == 0
    return folder


def told(folder: Path, start: int) -> subprocess.CompletedProcess[str]:
    """What a student's script says in a copy of the course."""
    script = folder / "try.py"
    script.write_text(TRIES.format(start=start))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, script], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_exercises_of_an_exam_hold_no_hints(exam_copy: Path) -> None:
    texts = [source(cell) for cell in read(exam_copy / "exercises/02_naive_matmul.ipynb")["cells"]]
    assert not [text for text in texts if "Hint" in text or "hint" in text]
    assert any(text.startswith("# EXERCISE matmul_naive") for text in texts)


def test_a_check_says_whether_and_not_why(exam_copy: Path) -> None:
    right, wrong = told(exam_copy, 0), told(exam_copy, 1)
    assert right.stdout.splitlines() == [exam.WHY_NOT, "matmul_naive: right"]
    assert right.returncode == 0
    assert wrong.stdout.splitlines() == [exam.WHY_NOT, "matmul_naive: not right"]
    assert wrong.stderr.splitlines()[-1].endswith(f"matmul_naive is not right. {exam.WHY_NOT}")
    assert "float32" not in wrong.stdout


def test_at_home_nothing_is_an_exam() -> None:
    assert not exam.is_on()
