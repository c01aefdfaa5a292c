"""A thread's own number that is lost in a narrow type is named, before what follows.

One that the thread does not need any more may be overwritten.
"""

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.diagnosis.report import Report

HEAD = "import numpy as np\nfrom numba import cuda, float32, int8, int16, uint8\n\n\n@cuda.jit\n"


def judged(exercise: str, body: str) -> tuple[Report, list[str]]:
    parameters = {"transpose_tiled": "A, B", "grid_stride": "x, y"}.get(exercise, "A, B, C")
    text = f"{HEAD}def {exercise}({parameters}):\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    return examine_source(exercise, text, debug=True), text.splitlines()


def test_a_number_that_is_not_needed_any_more_may_be_counted_with() -> None:
    body = "x, y = cuda.grid(2)\ncol, row = x, y\nif row < C.shape[0] and col < C.shape[1]:\n"
    body += (
        "    acc = float32(0)\n    for x in range(A.shape[1]):\n        acc += A[row, x] * B[x, {}]"
    )
    body += "\n    C[row, col] = acc"
    assert judged("matmul_naive", body.format("col"))[0].passed
    assert not judged("matmul_naive", body.format("row"))[0].passed


ROW, COLUMN = "row = cuda.blockIdx.y * 32 + {} % 32\n", "col = cuda.blockIdx.x * 8 + {} // 32"
PLACE = f"{ROW}{COLUMN}".format("t", "t")
HALVED = "int8(cuda.threadIdx.x // 2) * 2 + cuda.threadIdx.x % 2"
IN_PLACE = f"{ROW}{COLUMN}".format("cuda.threadIdx.x", "int8(cuda.threadIdx.x)")
CASTS = {
    "of threadIdx": (f"t = np.int8(cuda.threadIdx.x)\n{PLACE}", "int8"),
    "by its own name": (f"t = int8(cuda.threadIdx.x)\n{PLACE}", "int8"),
    "wide enough": (f"t = uint8(cuda.threadIdx.x)\n{PLACE}", ""),
    "halved first": (f"t = {HALVED}\n{PLACE}", ""),
    "within an index": (IN_PLACE, "int8"),
}


@every_case("name", CASTS)
@pytest.mark.slow
def test_a_type_that_does_not_hold_the_numbers_of_all_threads(name: str) -> None:
    index, kind = CASTS[name]
    body = f"{index}\nif 0 <= row < C.shape[0] and 0 <= col < C.shape[1]:\n    acc = float32(0)\n"
    body += "    for k in range(A.shape[1]):\n        acc += A[row, k] * B[k, col]\n"
    report, lines = judged("matmul_column_major", f"{body}    C[row, col] = acc")
    if not kind:
        assert report.passed
        return
    first = report.errors[0]
    assert first.code == "index-overflow" and f"{kind}(" in first.message
    assert f"{kind}(" in lines[(first.line or 0) - 1]


@pytest.mark.slow
def test_it_comes_before_the_races_that_follow_from_it() -> None:
    body = """\
sA = cuda.shared.array((64, 8), float32)
sB = cuda.shared.array((8, 64), float32)
t = np.int8(cuda.threadIdx.x)
M, K = A.shape
N = B.shape[1]
r0, c0 = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
acc = cuda.local.array(8, float32)
for i in range(8):
    acc[i] = 0
ra, ka, kb, cb = t // 8, t % 8, t // 64, t % 64
for k0 in range(0, K, 8):
    sA[ra, ka] = A[r0 + ra, k0 + ka] if 0 <= r0 + ra < M and k0 + ka < K else float32(0)
    sB[kb, cb] = B[k0 + kb, c0 + cb] if 0 <= k0 + kb < K and c0 + cb < N else float32(0)
    cuda.syncthreads()
    for k in range(8):
        for i in range(8):
            acc[i] += sA[kb * 8 + i, k] * sB[k, cb]
    cuda.syncthreads()
for i in range(8):
    r, c = r0 + kb * 8 + i, c0 + cb
    if 0 <= r < M and c < N:
        C[r, c] = acc[i]"""
    first = judged("matmul_1d", body)[0].errors[0]
    assert first.code == "index-overflow" and "int8" in first.message
    assert judged("matmul_1d", body.replace("np.int8(", "np.int32("))[0].numbers_right
