"""Threads that share the work badly: told so, whatever the indices are, and never a failed checker.

Where all threads use one index, an access names one cell and not one for each lane.
"""

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES

HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n\n@cuda.jit\n"
ONE_FOR_ALL = {
    "one thread of the grid": "x, y = cuda.grid(2)\nif x == 0 and y == 0:\n    {}",
    "every thread": "if True:\n    {}",
    "one thread of each block": "if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:\n    {}",
    "the last of the grid": "x, y = cuda.grid(2)\nif x == 0:\n    if y == 0:\n        {}",
}
WORK = {
    "mat_add": "for r in range(C.shape[0]):\n  for c in range(C.shape[1]):\n"
    "    C[r, c] = A[r, c] + B[r, c]",
    "matmul_naive": "for r in range(C.shape[0]):\n  for c in range(C.shape[1]):\n"
    "    for k in range(A.shape[1]):\n      C[r, c] += A[r, k] * B[k, c]",
    "matmul_column_major": "r = c = 0\nfor k in range(A.shape[1]):\n  C[r, c] += A[r, k] * B[k, c]",
    "transpose_tiled": "for r in range(B.shape[0]):\n  B[r, 0] = A[0, r]",
    "block_scan": "for i in range(1, len(x)):\n  y[i] = y[i - 1] + x[i]",
}


# Each of the threads with every second kind of work, and the other way round.
@every_case(
    ("threads", "exercise"),
    [(t, e) for i, t in enumerate(ONE_FOR_ALL) for j, e in enumerate(WORK) if (i + j) % 2 == 0],
)
@pytest.mark.slow
def test_the_checker_never_fails_on_an_index_that_is_the_same_for_all(
    threads: str, exercise: str
) -> None:
    start, _, rest = ONE_FOR_ALL[threads].partition("{}")
    indent = start[start.rfind("\n") + 1 :]
    body = start + WORK[exercise].replace("\n", f"\n{indent}") + rest
    parameters = ", ".join(EXERCISES[exercise].parameters)
    text = f"{HEAD}def {exercise}({parameters}):\n    " + body.replace("\n", "\n    ")
    report = examine_source(exercise, text + "\n", debug=True)
    assert not report.passed and not report.needs_review


def test_so_it_is_where_all_threads_of_a_loop_are_outside() -> None:
    text = f"""{HEAD}def mat_add(A, B, C):
    row = cuda.grid(2)[1]
    while row <= len(C):
        for col in range(cuda.grid(2)[0], C.shape[1], cuda.gridsize(2)[0]):
            C[row][col] = A[row][col] + B[row][col]
        row += cuda.gridsize(2)[1]
"""
    report = examine_source("mat_add", text, debug=True)
    assert not report.passed and not report.needs_review


def test_a_thread_that_runs_out_of_steps_is_told_so() -> None:
    body = WORK["mat_add"].replace("\n", "\n        ")
    text = f"{HEAD}def mat_add(A, B, C):\n    if cuda.grid(2) == (0, 0):\n        {body}\n"
    error = examine_source("mat_add", text, debug=True).errors[0]
    assert error.code == "timeout"
