"""Wrong numbers are told by what takes part in them, at the line that makes them so."""

import numpy as np
import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import Exercise

SUM = """
from numba import cuda, float32
@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = A[i, j] + B[i, j]
"""
PRODUCT = """
from numba import cuda, float32
@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[i, k] * B[k, j]
        C[i, j] = acc
"""
TILED = """
from numba import cuda, float32
TILE = 16
@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    acc = float32(0)
    for k0 in range(0, A.shape[1], TILE):
        a[y, x] = A[i, k0 + x] if i < A.shape[0] and k0 + x < A.shape[1] else float32(0)
        b[y, x] = B[k0 + y, j] if j < B.shape[1] and k0 + y < B.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += a[y, k] * b[k, x]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = acc
"""
TRANSPOSE = """
from numba import cuda, float32
@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    if top + y < A.shape[0] and left + x < A.shape[1]:
        tile[y, x] = A[top + y, left + x]
    cuda.syncthreads()
    if left + y < B.shape[0] and top + x < B.shape[1]:
        B[left + y, top + x] = tile[x, y]
"""
TEXTS = {
    "mat_add": SUM,
    "matmul_naive": PRODUCT,
    "matmul_tiled": TILED,
    "transpose_tiled": TRANSPOSE,
}


INDEX, BOUND, TEST = "wrong-index", "wrong-loop-bound", "wrong-bounds-check"
FORMULA, START = "wrong-formula", "accumulator-error"
IN_ALL, IN_FIRST = "range(A.shape[1])", "In C[0, 0], "
ADDED = "            acc += A[i, k] * B[k, j]"
GONE = "are missing"
# The exercise, what is changed in its answer, the code, and what is said of the numbers.
SAID = [
    ("mat_add", "< C.shape[0] and", "< C.shape[0] - 1 and", TEST,
     "still holds what it held before the launch"),
    ("mat_add", "C[i, j] =", "C[i, j] +=", "uninitialised-read",
     "includes what C held before the launch"),
    ("mat_add", "+ B[i, j]", "+ A[i, j]", INDEX, "The kernel uses A instead of B"),
    ("mat_add", " + B[i, j]", "", FORMULA, "C[0, 0] does not depend on any element of B"),
    ("mat_add", "+ B[i", "- B[i", FORMULA, f"{IN_FIRST}all terms are counted -1 times"),
    ("mat_add", "A[i, j] + B[i, j]", "float32(0.5) * A[i, j] + float32(0.5) * B[i, j]", FORMULA,
     "the right elements of A and B, but with the wrong weights"),
    ("mat_add", "B[i, j]", "B[j, i]", INDEX,
     "C[0, 1] was computed with B[1, 0] instead of B[0, 1]"),
    ("mat_add", "B[i, j]", "B[i, 0]", INDEX,
     "C[0, 1] was computed with B[0, 0] instead of B[0, 1]"),
    ("mat_add", "B[i, j]", "B[i, j - 1]", INDEX,
     "C[0, 0] was computed with B[0, 16] instead of B[0, 0]"),
    ("matmul_naive", "float32(0)", "float32(3)", START, "off by 3 even if all inputs are 0"),
    ("matmul_naive", "k] *", "k] +", FORMULA,
     "the right elements of A and B, but with the wrong weights"),
    ("matmul_naive", "B[k, j]", "B[k - 1, j]", INDEX, "C[0, 0] uses the wrong elements of A and B"),
    ("matmul_naive", IN_ALL, "range(B.shape[0] + 1)", BOUND, "reads A at index 48 along axis 1"),
    ("matmul_naive", IN_ALL, "range(1, A.shape[1])", BOUND, f"{IN_FIRST}the first term is missing"),
    ("matmul_naive", IN_ALL, "range(A.shape[1] - 2)", BOUND, f"all terms from number 29 on {GONE}"),
    ("matmul_naive", IN_ALL, "range(0, A.shape[1], 3)", BOUND, f"some of the terms {GONE}"),
    ("matmul_naive", "acc += A", "acc = A", START,
     "the last term is there, and the rest is missing"),
    ("matmul_naive", ADDED, f"            if k % 16:\n    {ADDED}", TEST, f"terms 0 and 16 {GONE}"),
    # Two terms always lie at one distance; that makes no series of them.
    ("matmul_naive", ADDED, f"            if k != 11 and k != 22:\n    {ADDED}", TEST,
     f"some of the terms {GONE}"),
    ("matmul_tiled", "A[i, k0 + x] if", "A[i, x] if", INDEX, "uses the wrong elements of A"),
    ("matmul_tiled", "], TILE)", "] - TILE, TILE)", BOUND, f"all terms from number 16 on {GONE}"),
    ("matmul_tiled", "+= a", "+= a[y, k] * b[k, x] + a", FORMULA, "all terms are counted 2 times"),
    ("transpose_tiled", "B[left + y, top + x] =", "B[top + x, left + y] =", INDEX,
     "B[0, 1] holds the result that belongs to B[1, 0]"),
]  # fmt: skip


@pytest.mark.parametrize(
    "exercise",
    [each if each == "mat_add" else pytest.param(each, marks=pytest.mark.slow) for each in TEXTS],
)
def test_what_takes_part_is_told(exercise: str) -> None:
    @every_case(("old", "new", "code", "said"), [row[1:] for row in SAID if row[0] == exercise])
    def told(old: str, new: str, code: str, said: str) -> None:
        right = TEXTS[exercise]
        assert old in right
        lines = right.replace(old, new).splitlines()
        changed = [number for number, line in enumerate(lines, 1) if line not in right.splitlines()]
        first = examine_source(exercise, "\n".join(lines), debug=True).errors[0]
        assert (first.code, first.line) == (code, changed[0])
        assert said in first.message

    told()
    assert not examine_source(exercise, TEXTS[exercise], debug=True).errors


# Of two loads that fill a tile, the one marked brings a wrong number to each element that it feeds,
# the other a right one to all others.
EDGE_CELLS = {
    "sum_of_three": """
@cuda.jit
def sum_of_three(x, y):
    part = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t + 1] = x[i] if i < x.shape[0] else float32(0)
    if t == 0:
        part[0] = x[i - 1] if i > 0 else float32(0)
        part[129] = x[i + 1] if i + 1 < x.shape[0] else float32(0)  #!
    cuda.syncthreads()
    if i < x.shape[0]:
        y[i] = part[t] + part[t + 1] + part[t + 2]
""",
    "differences": """
@cuda.jit
def differences(x, y):
    i = cuda.blockIdx.x * 64 + cuda.threadIdx.x
    part = cuda.shared.array(65, float32)
    if i < len(x):
        part[cuda.threadIdx.x + 1] = x[i]
    if cuda.threadIdx.x == 0:
        part[0] = float32(0)
        if cuda.blockIdx.x > 0:
            left = x[cuda.blockIdx.x % 3]  #!
            part[0] = left
    cuda.syncthreads()
    if i < len(x):
        y[i] = part[cuda.threadIdx.x + 1] - part[cuda.threadIdx.x]
""",
    "row_steps": """
@cuda.jit
def row_steps(A, B):
    cells = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    last = column + 1 < A.shape[1]
    if row < A.shape[0] and column < A.shape[1]:
        cells[ty, tx] = A[row, column]
        if tx == 15 and last:
            cells[ty, 16] = A[ty, 0]  #!
    cuda.syncthreads()
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = cells[ty, tx]
        if last:
            B[row, column] -= cells[ty, tx + 1]
""",
}
ROW_STEPS = Exercise(
    id="row_steps", title="The steps along each row", lesson="00", parameters=("A", "B"),
    output="B", points={"right": 5, "bounds": 3, "float32": 2},
    reference=lambda A: A - np.pad(A, ((0, 0), (0, 1)))[:, 1:], shapes=("M,N", "M,N"),
    formula="B[row, column] = A[row, column] - A[row, column + 1]",
)  # fmt: skip


@pytest.mark.parametrize("name", EDGE_CELLS)
def test_the_load_that_feeds_wrong_elements_alone_is_told(name: str) -> None:
    text = "from numba import cuda, float32\n" + EDGE_CELLS[name]
    exercise = ROW_STEPS if name == ROW_STEPS.id else name
    marked = next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith("#!"))
    first = examine_source(exercise, text, debug=True).errors[0]
    assert (first.code, first.line) == ("wrong-index", marked)
